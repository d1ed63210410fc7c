; Document symbols: functions and classes with their names.
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
