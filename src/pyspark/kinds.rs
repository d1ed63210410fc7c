//! The grammar's node kinds and fields as small numbers, looked up once.

use std::sync::OnceLock;

use tree_sitter::{Node, TreeCursor};

macro_rules! names {
    ($(#[$doc:meta])* $type:ident, $other:ident, $($variant:ident = $name:literal),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $type { $other, $($variant),+ }

        impl $type {
            const NAMES: &[(&'static str, Self)] = &[$(($name, Self::$variant)),+];
        }
    };
}

names! {
    /// Kinds of nodes that the lowering tells apart.
    Kind, Other,
    Assignment = "assignment", AsPattern = "as_pattern", AsTarget = "as_pattern_target",
    Attribute = "attribute", Augmented = "augmented_assignment", Await = "await", Binary = "binary_operator",
    Block = "block", Boolean = "boolean_operator", Break = "break_statement", Call = "call", Case = "case_clause", CasePattern = "case_pattern",
    Class = "class_definition", Comment = "comment", Comparison = "comparison_operator", Concatenated = "concatenated_string",
    Conditional = "conditional_expression", Continue = "continue_statement", Decorated = "decorated_definition",
    Decorator = "decorator", DefaultParameter = "default_parameter", Delete = "delete_statement",
    Dictionary = "dictionary", DictionaryComprehension = "dictionary_comprehension", DictionarySplat = "dictionary_splat",
    DictionarySplatPattern = "dictionary_splat_pattern", Elif = "elif_clause", Else = "else_clause", Error = "ERROR",
    Except = "except_clause", ExpressionList = "expression_list", ExpressionStatement = "expression_statement",
    False = "false", Finally = "finally_clause", Float = "float", For = "for_statement", ForIn = "for_in_clause",
    Function = "function_definition", FutureImport = "future_import_statement", Generator = "generator_expression", Global = "global_statement",
    Identifier = "identifier", If = "if_statement", IfClause = "if_clause", Import = "import_statement",
    ImportFrom = "import_from_statement", AliasedImport = "aliased_import", DottedName = "dotted_name", Wildcard = "wildcard_import", Yield = "yield", SplatPattern = "splat_pattern", KeywordPattern = "keyword_pattern", ClassPattern = "class_pattern",
    Integer = "integer", Interpolation = "interpolation", Keyword = "keyword_argument", KeywordSeparator = "keyword_separator",
    Lambda = "lambda", List = "list", ListComprehension = "list_comprehension", ListPattern = "list_pattern", ListSplat = "list_splat",
    ListSplatPattern = "list_splat_pattern", Match = "match_statement", Named = "named_expression", None = "none",
    Nonlocal = "nonlocal_statement", Not = "not_operator", Pair = "pair", Parenthesized = "parenthesized_expression",
    Pass = "pass_statement", PatternList = "pattern_list", Raise = "raise_statement", Return = "return_statement", Set = "set",
    SetComprehension = "set_comprehension", Slice = "slice", String = "string", StringContent = "string_content",
    StringEnd = "string_end", StringStart = "string_start", Subscript = "subscript", True = "true", Try = "try_statement",
    Tuple = "tuple", TuplePattern = "tuple_pattern", TypedDefault = "typed_default_parameter", Typed = "typed_parameter",
    Unary = "unary_operator", While = "while_statement", With = "with_statement", WithItem = "with_item", WithClause = "with_clause",
}

names! {
    /// Fields that the lowering tells apart.
    Field, Without,
    Alias = "alias", Alternative = "alternative", Arguments = "arguments", Attribute = "attribute", Body = "body",
    Condition = "condition", Consequence = "consequence", Definition = "definition", Function = "function", Key = "key",
    Left = "left", ModuleName = "module_name", Name = "name", Object = "object", Operator = "operator", Operators = "operators",
    Parameters = "parameters", ReturnType = "return_type", Right = "right", Subject = "subject", Subscript = "subscript",
    Superclasses = "superclasses", Type = "type", Value = "value",
}

struct Tables {
    kinds: Vec<Kind>,
    fields: Vec<Field>,
    error: u16,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let language = super::syntax::language();
        let mut kinds = vec![Kind::Other; language.node_kind_count()];
        for (id, kind) in kinds.iter_mut().enumerate() {
            let id = id as u16;
            if let (Some(name), true) = (language.node_kind_for_id(id), language.node_kind_is_named(id)) {
                *kind = Kind::NAMES.iter().find(|(known, _)| *known == name).map_or(Kind::Other, |(_, kind)| *kind);
            }
        }
        let mut fields = vec![Field::Without; language.field_count() + 1];
        for (name, field) in Field::NAMES {
            if let Some(id) = language.field_id_for_name(name) {
                fields[usize::from(id.get())] = *field;
            }
        }
        Tables { kinds, fields, error: u16::MAX }
    })
}

/// The kind of the cursor's node; of unnamed nodes [`Kind::Other`].
pub(super) fn kind(cursor: &TreeCursor<'_>) -> Kind {
    kind_of(cursor.node())
}

/// The kind of a node; of unnamed nodes [`Kind::Other`].
pub(super) fn kind_of(node: Node<'_>) -> Kind {
    let id = node.kind_id();
    let tables = tables();
    if id == tables.error { Kind::Error } else { tables.kinds.get(usize::from(id)).copied().unwrap_or(Kind::Other) }
}

/// The field by which the cursor's node hangs on its parent.
pub(super) fn field(cursor: &TreeCursor<'_>) -> Field {
    cursor.field_id().and_then(|id| tables().fields.get(usize::from(id.get())).copied()).unwrap_or(Field::Without)
}
