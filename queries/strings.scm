; Strings that may be a key or a value of a setting: the arguments of calls that take one.
(call
  function: (attribute attribute: (identifier) @method)
  arguments: (argument_list) @arguments
  (#any-of? @method "config" "set" "setConf" "setIfMissing" "get" "getConf" "unset" "isModifiable" "contains"))
