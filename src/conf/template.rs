//! Texts that something fills in before Spark reads them: ERB, Jinja, Go templates, `${}`, `@X@`, `<< parameters.x >>`.

/// Whether Spark itself replaces `${name}` when it reads a value.
fn is_sparks_own(name: &str) -> bool {
    name.starts_with("env:") || name.starts_with("system:") || name.starts_with("spark.")
}

/// Whether the text holds a `${...}` that Spark itself replaces when it reads the value.
pub(crate) fn has_reference(text: &str) -> bool {
    braces(text).any(|(_, name)| is_sparks_own(name))
}

/// Where the first placeholder begins that something else than Spark fills in.
pub(crate) fn placeholder(text: &str) -> Option<usize> {
    let marks = ["{{", "{%", "<%", "<< parameters.", "<< pipeline."].into_iter().filter_map(|mark| text.find(mark));
    let braces = braces(text).find(|(_, name)| !is_sparks_own(name)).map(|(at, _)| at);
    marks.chain(braces).chain(between_ats(text)).chain(variable(text)).min()
}

/// `${name}`: where, and the name.
fn braces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("${").filter_map(|(at, _)| Some((at, text[at + 2..].split_once('}')?.0)))
}

/// `@NAME@`, as build tools fill it in; an address such as `user@host` is none.
fn between_ats(text: &str) -> Option<usize> {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
    let mut ats = text.match_indices('@').map(|(at, _)| at).peekable();
    while let Some(at) = ats.next() {
        if is_name(&text[at + 1..*ats.peek()?]) {
            return Some(at);
        }
    }
    None
}

/// `$NAME` in capitals, as `envsubst` fills it in.
fn variable(text: &str) -> Option<usize> {
    let is_variable = |at: &usize| {
        let mut name = text[at + 1..].bytes();
        name.next().is_some_and(|b| b.is_ascii_uppercase() || b == b'_')
            && name.next().is_some_and(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
    };
    text.match_indices('$').map(|(at, _)| at).find(is_variable)
}

/// A line that steers a template and leaves nothing in its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// It ends on its own line.
    Closed,
    /// It goes on until this text.
    OpenUntil(&'static str),
}

/// Whether the line begins with a template's own syntax instead of a key.
pub(crate) fn control(line: &str) -> Option<Control> {
    let line = line.trim_start();
    let pairs = [("{%", "%}"), ("<%", "%>"), ("{{", "}}")];
    let (open, close) = pairs.into_iter().find(|(open, _)| line.starts_with(open))?;
    let closed = line[open.len()..].contains(close);
    Some(if closed { Control::Closed } else { Control::OpenUntil(close) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found() {
        for text in [
            "<< parameters.memory >>",
            "${MEM}",
            "{{ mem }}",
            "<%= mem %>",
            "@MEM@",
            "a@b @X.Y@",
            "$MEM",
            "${hiveconf:x}",
            "{% if x %}4g",
        ] {
            assert!(placeholder(text).is_some(), "{text}");
        }
        for text in [
            "4g",
            "${env:MEM}",
            "${system:x}",
            "${spark.x}",
            "user@host",
            "a@b,c@d e",
            "^x$",
            "$1",
            "${open",
            "@",
            "@@",
            "$$",
        ] {
            assert_eq!(placeholder(text), None, "{text}");
        }
        assert!(has_reference("x${env:HOME}") && !has_reference("${HOME}"));
    }

    #[test]
    fn control_lines_are_found() {
        assert_eq!(control("  <% if x %>"), Some(Control::Closed));
        assert_eq!(control("{% if x"), Some(Control::OpenUntil("%}")));
        assert_eq!(control("{{- end }}"), Some(Control::Closed));
        assert_eq!(control("spark.a {{ x }}"), None);
    }
}
