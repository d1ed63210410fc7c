//! What stands around the cursor in a string: which setting it is the key or the value of, in broken code too.

use std::sync::OnceLock;

use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

use super::PythonFile;
use super::strings;
use crate::text::Span;

/// A string literal under the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StringContext {
    /// Between the quotes; up to the end of the line (or the cursor) if the string is not closed.
    pub content: Span,
    /// What the string is for.
    pub role: StringRole,
}

/// What a string is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StringRole {
    /// A setting's key.
    Key,
    /// The value of this setting.
    Value(String),
    /// Something else.
    Other,
}

/// Methods whose first argument is a setting's key.
const KEYED: [&str; 9] =
    ["config", "set", "setConf", "setIfMissing", "get", "getConf", "unset", "isModifiable", "contains"];

fn query() -> Option<&'static Query> {
    static QUERY: OnceLock<Option<Query>> = OnceLock::new();
    QUERY
        .get_or_init(|| Query::new(&super::syntax::language(), include_str!("../../queries/strings.scm")).ok())
        .as_ref()
}

impl PythonFile {
    /// The string literal at a byte offset, with the cursor between its quotes; `None` outside of strings.
    pub fn string_at(&self, offset: usize) -> Option<StringContext> {
        let settings = &self.plan().settings;
        for setting in settings {
            let literal = |span: Span| span.touches(offset) && self.is_quoted(span);
            if literal(setting.key_span) {
                return Some(StringContext { content: setting.key_span, role: StringRole::Key });
            }
            if literal(setting.value_span) {
                return Some(StringContext {
                    content: setting.value_span,
                    role: StringRole::Value(setting.key.clone()),
                });
            }
        }
        self.string_in_tree(offset).or_else(|| self.open_string(offset))
    }

    fn is_quoted(&self, span: Span) -> bool {
        let quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\''));
        let bytes = self.text().as_bytes();
        (span.start as usize).checked_sub(1).is_some_and(|before| quote(bytes.get(before)))
            && quote(bytes.get(span.end as usize))
    }

    /// A closed string, by the tree.
    fn string_in_tree(&self, offset: usize) -> Option<StringContext> {
        let text = self.text();
        let root = self.syntax.tree.as_ref()?.root_node();
        let mut node = root.descendant_for_byte_range(offset, offset)?;
        while node.kind() != "string" {
            node = node.parent()?;
        }
        let span = Span::new(node.start_byte(), node.end_byte());
        let content = strings::inside(span, span.of(text));
        let closed = self.is_quoted(content) && content != span;
        if !closed || !content.touches(offset) {
            return None;
        }
        Some(StringContext { content, role: self.role_in_tree(node).unwrap_or(StringRole::Other) })
    }

    /// The role of a string by the call around it.
    fn role_in_tree(&self, string: Node<'_>) -> Option<StringRole> {
        let text = self.text();
        let list = string.parent().filter(|parent| parent.kind() == "argument_list")?;
        let query = query()?;
        let arguments = query.capture_index_for_name("arguments")?;
        let method = query.capture_index_for_name("method")?;
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(query, list.parent()?, text.as_bytes());
        let mut is_setting = false;
        while let Some(found) = matches.next() {
            if found.nodes_for_capture_index(arguments).any(|node| node.id() == list.id())
                && let Some(method) = found.nodes_for_capture_index(method).next()
            {
                is_setting =
                    takes_settings(text.get(..method.start_byte()).unwrap_or_default(), &text[method.byte_range()]);
            }
        }
        if !is_setting {
            return None;
        }
        let mut walk = list.walk();
        let before: Vec<Node<'_>> =
            list.named_children(&mut walk).take_while(|node| node.start_byte() < string.start_byte()).collect();
        match &before[..] {
            [] => Some(StringRole::Key),
            [key] => {
                let key = Span::new(key.start_byte(), key.end_byte());
                let key = strings::inside(key, key.of(text));
                Some(StringRole::Value(key.of(text).to_owned()))
            }
            _ => None,
        }
    }

    /// A string that is not closed on its line, by the characters in front of the cursor.
    fn open_string(&self, offset: usize) -> Option<StringContext> {
        let text = self.text();
        let before = text.get(..offset)?;
        let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let quote = open_quote(&before[line_start..])? + line_start;
        let line_end = text[offset..].find(['\n', '\r']).map_or(text.len(), |at| offset + at);
        // What follows the word under the cursor belongs to the code behind the string.
        let word = text[offset..line_end]
            .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-')));
        let end = word.map_or(line_end, |at| offset + at);
        Some(StringContext { content: Span::new(quote + 1, end), role: role_before(&before[..quote]) })
    }
}

/// Where a line's last quote opens a string that the line does not close.
fn open_quote(line: &str) -> Option<usize> {
    let mut open: Option<(usize, u8)> = None;
    let mut bytes = line.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (open, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some((_, quote)), byte) if byte == quote => open = None,
            (None, b'"' | b'\'') => open = Some((at, byte)),
            (None, b'#') => return None,
            _ => {}
        }
    }
    open.map(|(at, _)| at)
}

/// The role of a string by the code in front of its quote.
fn role_before(code: &str) -> StringRole {
    let code = code.trim_end();
    let code = code.strip_suffix("key=").unwrap_or(code);
    if let Some(call) = code.strip_suffix('(') {
        return if ends_with_setting_method(call) { StringRole::Key } else { StringRole::Other };
    }
    let Some(arguments) = code.strip_suffix("value=").unwrap_or(code).trim_end().strip_suffix(',') else {
        return StringRole::Other;
    };
    let key = arguments.trim_end();
    let Some(quote) = key.chars().next_back().filter(|quote| matches!(quote, '"' | '\'')) else {
        return StringRole::Other;
    };
    let Some(start) = key[..key.len() - 1].rfind(quote) else { return StringRole::Other };
    let call = key[..start].trim_end();
    match call.strip_suffix('(') {
        Some(call) if ends_with_setting_method(call) => StringRole::Value(key[start + 1..key.len() - 1].to_owned()),
        _ => StringRole::Other,
    }
}

fn ends_with_setting_method(call: &str) -> bool {
    let call = call.trim_end();
    let start = call.rfind(|letter: char| !(letter.is_alphanumeric() || letter == '_')).map_or(0, |at| at + 1);
    takes_settings(&call[..start], &call[start..])
}

/// Whether a method behind this code takes a setting's key: `set` and `get` are common names, so their receiver decides.
fn takes_settings(code: &str, method: &str) -> bool {
    if !KEYED.contains(&method) {
        return false;
    }
    let Some(receiver) = code.trim_end().strip_suffix('.') else { return false };
    let receiver = receiver.trim_end().to_ascii_lowercase();
    match method {
        "config" | "setIfMissing" | "setConf" => true,
        _ => {
            receiver.ends_with("conf")
                || receiver.ends_with("sparkconf()")
                || receiver.ends_with(')') && receiver.contains("sparkconf()")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The content and role at `|`.
    fn at(text: &str) -> Option<(String, StringRole)> {
        let offset = text.find('|').unwrap();
        let text = text.replace('|', "");
        let context = PythonFile::parse(&text.as_str().into()).string_at(offset)?;
        Some((context.content.of(&text).to_owned(), context.role))
    }

    #[test]
    fn a_key_in_broken_code() {
        let key = |text: &str| Some((text.to_owned(), StringRole::Key));
        assert_eq!(at("spark.conf.set(\"spark.sql.|"), key("spark.sql."));
        assert_eq!(at("x = 1\nspark.conf.set('spark.sql.|\ny = 2\n"), key("spark.sql."));
        assert_eq!(at("spark.conf.set(\"spark.s|ql\", 1)\n"), key("spark.sql"));
        assert_eq!(at("b = SparkSession.builder.config(\"|\")\n"), key(""));
        assert_eq!(at("b = (SparkSession.builder\n  .config(\"spark.ex|"), key("spark.ex"));
    }

    #[test]
    fn a_value_knows_its_key() {
        let value = |text: &str| Some((text.to_owned(), StringRole::Value("spark.x".to_owned())));
        assert_eq!(at("spark.conf.set(\"spark.x\", \"tr|ue\")\n"), value("true"));
        assert_eq!(at("spark.conf.set(\"spark.x\", \"tr|"), value("tr"));
    }

    #[test]
    fn other_strings_are_other() {
        assert_eq!(at("d.set(\"a|\")\n"), Some(("a".to_owned(), StringRole::Other)));
        assert_eq!(at("x = 'a|b'\n"), Some(("ab".to_owned(), StringRole::Other)));
        assert_eq!(at("x = a|b\n"), None);
        assert_eq!(at("# it's |\n"), None);
    }

    #[test]
    fn the_query_compiles() {
        assert!(query().is_some());
    }
}
