//! Python's literals as the nodes that YAML and JSON are made of, with exact places.
//!
//! A call is a map of its keyword arguments, with what is called as `operator`, the name that it has in YAML files that
//! DAGs are made of. What the file doesn't tell is a hole in a text and [`Node::Unknown`] elsewhere.

use std::borrow::Cow;
use std::cell::Cell;

use super::Names;
use crate::conf::carriers::{Entry, Mapped, Node, Scalar, removal, runs_tool};
use crate::pyspark::ir::{Arg, ArgName, Expr, ExprId, Operator, Pair};
use crate::pyspark::strings;
use crate::pyspark::value::Code;
use crate::text::Span;

/// How deep literals are followed, through names too.
const MAX_DEPTH: usize = 32;

/// What an expression costs, next to the bytes of texts.
const EXPRESSION: usize = 16;

/// Calls whose arguments are commands, or whose result is what they are given.
const RUNNERS: [&str; 17] = [
    "run",
    "call",
    "check_call",
    "check_output",
    "Popen",
    "popen",
    "system",
    "getoutput",
    "getstatusoutput",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "exec_command",
    "execute",
    "split",
    "dedent",
    "setdefault",
    "setenv",
];

/// Reads literals.
pub(super) struct Reader<'a, 'n> {
    text: &'a str,
    names: &'n Names<'a, 'n>,
    /// What may still be read, in bytes of texts and [`EXPRESSION`]s; names in names can't multiply further.
    budget: Cell<usize>,
}

impl<'a, 'n> Reader<'a, 'n> {
    pub(super) fn new(text: &'a str, names: &'n Names<'a, 'n>) -> Self {
        Self { text, names, budget: Cell::new((1 << 18) + 8 * text.len()) }
    }

    fn may_spend(&self, cost: usize) -> bool {
        let left = self.budget.get().checked_sub(cost);
        self.budget.set(left.unwrap_or_default());
        left.is_some()
    }

    pub(super) fn str(&self, code: Code<'a>, span: Span) -> &'a str {
        code.span(span).of(self.text)
    }

    fn place(&self, code: Code<'a>, id: ExprId) -> Span {
        code.span(code.top.expr(id).span)
    }

    /// An expression by itself.
    pub(super) fn node(&self, code: Code<'a>, id: ExprId) -> Node<'a> {
        self.value(code, id, 0)
    }

    /// What an assignment says: a text under its name, a value under its key.
    pub(super) fn assigned(&self, code: Code<'a>, target: ExprId, value: ExprId, whole: Span) -> Option<Node<'a>> {
        let named = |name: Span| Scalar::new(Mapped::verbatim(self.text, code.span(name)), code.span(name), true);
        let target = code.top.expr(target);
        let (key, value) = match &target.expr {
            Expr::Name => (named(target.span), self.text_of(code, value)?),
            Expr::Attribute { name, .. } => (named(*name), self.text_of(code, value)?),
            Expr::Subscript { index, .. } => match index[..] {
                [index] => (self.scalar(code, index, 0)?, self.value(code, value, 0)),
                _ => return None,
            },
            _ => return None,
        };
        // Dicts and lists are read by themselves.
        let is_structure = matches!(value, Node::Map(_) | Node::List(_));
        (!is_structure).then(|| Node::Map(vec![Entry { key, value, span: code.span(whole) }]))
    }

    fn text_of(&self, code: Code<'a>, id: ExprId) -> Option<Node<'a>> {
        self.scalar(code, id, 0).filter(|text| !text.plain && !is_sentence(text)).map(Node::Scalar)
    }

    fn value(&self, code: Code<'a>, id: ExprId, depth: usize) -> Node<'a> {
        let place = self.place(code, id);
        if depth > MAX_DEPTH || !self.may_spend(EXPRESSION) {
            return Node::Unknown(place);
        }
        if let Some(scalar) = self.scalar(code, id, depth) {
            return if is_sentence(&scalar) { Node::Unknown(place) } else { Node::Scalar(scalar) };
        }
        match &code.top.expr(id).expr {
            Expr::Dict(pairs) => Node::Map(self.entries(code, pairs, depth)),
            Expr::List(items) | Expr::Tuple(items) => Node::List(self.items(code, items, depth)),
            Expr::Call { function, args, .. } => self.call(code, id, *function, args, depth),
            Expr::Await(inner) | Expr::Splat(inner) => self.value(code, *inner, depth + 1),
            Expr::Name => match self.names.value(place.of(self.text)) {
                Some((code, value)) => match self.value(code, value, depth + 1) {
                    Node::Unknown(_) => Node::Unknown(place),
                    known => known,
                },
                None => Node::Unknown(place),
            },
            Expr::Binary { operator: Operator::Add, .. } => Node::List(self.items(code, &[id], depth)),
            Expr::Binary { operator: Operator::Or, left, right } | Expr::Either(left, right) => {
                self.several(code, [*left, *right], depth)
            }
            Expr::Conditional { then, otherwise, .. } => self.several(code, [*then, *otherwise], depth),
            _ => Node::Unknown(place),
        }
    }

    /// Maps of which one, or all, are taken.
    fn several(&self, code: Code<'a>, parts: [ExprId; 2], depth: usize) -> Node<'a> {
        let [left, right] = parts.map(|part| self.value(code, part, depth + 1));
        let is_structure = |node: &Node<'_>| matches!(node, Node::Map(_) | Node::List(_));
        match (is_structure(&left), is_structure(&right)) {
            (true, true) => Node::List(vec![left, right]),
            (true, false) => left,
            (false, true) => right,
            (false, false) => Node::Unknown(self.place(code, parts[0]).cover(self.place(code, parts[1]))),
        }
    }

    fn entries(&self, code: Code<'a>, pairs: &'a [Pair], depth: usize) -> Vec<Entry<'a>> {
        let mut entries = Vec::new();
        for pair in pairs {
            match pair.key {
                Some(key) => entries.extend(self.scalar(code, key, depth + 1).map(|key| Entry {
                    value: self.value_of(code, &key, pair.value, depth),
                    key,
                    span: removal(self.text, code.span(pair.span)),
                })),
                None => self.unpack(code, pair.value, depth, &mut entries),
            }
        }
        entries
    }

    /// The value of an entry; what a call makes of its arguments is not known.
    fn value_of(&self, code: Code<'a>, key: &Scalar<'a>, value: ExprId, depth: usize) -> Node<'a> {
        let node = self.value(code, value, depth + 1);
        let is_made = key.as_str().starts_with("spark.") && matches!(code.top.expr(value).expr, Expr::Call { .. });
        match node {
            Node::Map(_) | Node::List(_) if is_made => Node::Unknown(self.place(code, value)),
            node => node,
        }
    }

    /// `**other`: its entries come first, so that those which are written here win.
    fn unpack(&self, code: Code<'a>, other: ExprId, depth: usize, entries: &mut Vec<Entry<'a>>) {
        if let Node::Map(mut unpacked) = self.value(code, other, depth + 1) {
            unpacked.append(entries);
            *entries = unpacked;
        }
    }

    fn items(&self, code: Code<'a>, items: &[ExprId], depth: usize) -> Vec<Node<'a>> {
        let mut nodes = Vec::new();
        items.iter().for_each(|item| self.item(code, *item, depth + 1, &mut nodes));
        let has_text = nodes.iter().any(|node| matches!(node, Node::Scalar(scalar) if !scalar.plain));
        if has_text {
            for node in &mut nodes {
                if let Node::Unknown(span) = node {
                    *node = Node::Scalar(self.hole(*span));
                }
            }
        }
        nodes
    }

    /// An element of a list; several for an unpacked list and for lists that are added.
    fn item(&self, code: Code<'a>, id: ExprId, depth: usize, nodes: &mut Vec<Node<'a>>) {
        let place = self.place(code, id);
        match &code.top.expr(id).expr {
            _ if depth > MAX_DEPTH => nodes.push(Node::Unknown(place)),
            Expr::Binary { operator: Operator::Add, left, right } if !self.is_text(code, id) => {
                [left, right].into_iter().for_each(|side| self.side(code, *side, depth + 1, nodes));
            }
            Expr::Splat(inner) => self.unpacked(code, *inner, depth, nodes),
            _ => nodes.push(self.value(code, id, depth)),
        }
    }

    /// A list that is added to another.
    fn side(&self, code: Code<'a>, id: ExprId, depth: usize, nodes: &mut Vec<Node<'a>>) {
        match &code.top.expr(id).expr {
            Expr::Binary { operator: Operator::Add, .. } => self.item(code, id, depth, nodes),
            _ => self.unpacked(code, id, depth, nodes),
        }
    }

    fn unpacked(&self, code: Code<'a>, list: ExprId, depth: usize, nodes: &mut Vec<Node<'a>>) {
        match self.value(code, list, depth) {
            Node::List(items) => nodes.extend(items),
            _ => nodes.push(Node::Unknown(self.place(code, list))),
        }
    }

    fn call(&self, code: Code<'a>, id: ExprId, function: ExprId, args: &'a [Arg], depth: usize) -> Node<'a> {
        let place = self.place(code, id);
        let (name, object) = match &code.top.expr(function).expr {
            Expr::Attribute { object, name, .. } => (*name, Some(*object)),
            Expr::Name => (code.top.expr(function).span, None),
            _ => return Node::Unknown(place),
        };
        let callee = self.str(code, name);
        let is_text = object.is_some_and(|object| matches!(code.top.expr(object).expr, Expr::Text(_)));
        let keeps_texts = RUNNERS.contains(&callee) && !is_text;
        let mut entries = Vec::new();
        let mut positional = Vec::new();
        for arg in args {
            match arg.name {
                ArgName::Keyword(keyword) => entries.extend(self.keyword(code, keyword, arg, depth)),
                ArgName::DoubleStar => self.unpack(code, arg.value, depth, &mut entries),
                ArgName::Positional | ArgName::Star => match self.value(code, arg.value, depth + 1) {
                    node @ (Node::Map(_) | Node::List(_)) => positional.push(node),
                    node @ Node::Scalar(_) if keeps_texts => positional.push(node),
                    _ => {}
                },
            }
        }
        if callee == "dict" && object.is_none() {
            return Node::Map(entries);
        }
        if !entries.is_empty() {
            let name = Scalar::new(Mapped::verbatim(self.text, code.span(name)), code.span(name), true);
            let span = code.span(code.top.expr(function).span);
            let value = Node::Scalar(name.clone());
            let operator = Scalar::new(literally("operator", span), span, true);
            entries.insert(0, Entry { key: operator, value, span });
            positional.insert(0, Node::Map(entries));
        }
        match positional.len() {
            0 => Node::Unknown(place),
            1 => positional.remove(0),
            _ => Node::List(positional),
        }
    }

    fn keyword(&self, code: Code<'a>, keyword: Span, arg: &Arg, depth: usize) -> Option<Entry<'a>> {
        if code.top.expr(arg.value).expr == Expr::None {
            return None;
        }
        let place = code.span(keyword);
        let key = Scalar::new(Mapped::verbatim(self.text, place), place, true);
        let value = self.value_of(code, &key, arg.value, depth);
        Some(Entry { key, value, span: removal(self.text, code.span(arg.span)) })
    }

    fn is_text(&self, code: Code<'a>, id: ExprId) -> bool {
        self.scalar(code, id, 0).is_some()
    }

    /// A text, number or boolean, possibly with holes.
    fn scalar(&self, code: Code<'a>, id: ExprId, depth: usize) -> Option<Scalar<'a>> {
        let place = self.place(code, id);
        let plain = |text| Some(Scalar::new(text, place, true));
        let verbatim = || Mapped::verbatim(self.text, place);
        match &code.top.expr(id).expr {
            Expr::Integer if place.of(self.text).contains('_') => {
                plain(literally(&place.of(self.text).replace('_', ""), place))
            }
            Expr::Integer | Expr::Float | Expr::True | Expr::False => plain(verbatim()),
            Expr::Unary { minus: true, operand }
                if matches!(code.top.expr(*operand).expr, Expr::Integer | Expr::Float) =>
            {
                plain(verbatim())
            }
            _ => {
                let mut text = Written::default();
                self.append(code, id, depth, &mut text).then(|| {
                    let content = if text.text.text().is_empty() { self.empty(code, id) } else { text.text };
                    Scalar { has_holes: text.has_holes, ..Scalar::new(content, place, false) }
                })
            }
        }
    }

    /// An empty text stands between its quotes.
    fn empty(&self, code: Code<'a>, id: ExprId) -> Mapped<'a> {
        let place = match &code.top.expr(id).expr {
            Expr::Text(text) => code.span(text.content),
            _ => self.place(code, id),
        };
        Mapped::empty_at(place.end as usize)
    }

    /// Appends the text of an expression; says whether it is one.
    fn append(&self, code: Code<'a>, id: ExprId, depth: usize, out: &mut Written<'a>) -> bool {
        if depth > MAX_DEPTH || !self.may_spend(EXPRESSION) {
            return false;
        }
        let place = self.place(code, id);
        match &code.top.expr(id).expr {
            Expr::Text(text) if !text.bytes && self.may_spend(text.content.len()) => {
                strings::push(&mut out.text, self.text, code.span(text.content), *text);
            }
            Expr::Template(parts) => {
                for part in parts {
                    if !self.append(code, *part, depth + 1, out) {
                        out.hole(self.text, self.with_braces(code, *part));
                    }
                }
            }
            Expr::Binary { operator: Operator::Add, left, right } => {
                let is_collection =
                    [left, right].map(|side| matches!(code.top.expr(*side).expr, Expr::List(_) | Expr::Dict(_)));
                let mut parts = Written::default();
                let known = [left, right].map(|side| {
                    let known = self.append(code, *side, depth + 1, &mut parts);
                    if !known {
                        parts.hole(self.text, self.place(code, *side));
                    }
                    known
                });
                if is_collection.contains(&true) || !known.contains(&true) {
                    return false;
                }
                out.text.push_mapped(&parts.text);
                out.has_holes |= parts.has_holes;
            }
            Expr::Binary { operator: Operator::Modulo, left, .. } => {
                return self.formatted(code, *left, depth, '%', out);
            }
            Expr::Call { function, .. } => match &code.top.expr(*function).expr {
                Expr::Attribute { object, name, .. } => match self.str(code, *name) {
                    "format" => return self.formatted(code, *object, depth, '{', out),
                    "strip" | "lstrip" | "rstrip" => return self.append(code, *object, depth + 1, out),
                    _ => return false,
                },
                _ => return false,
            },
            Expr::Name => {
                let Some((of, value)) = self.names.value(place.of(self.text)) else { return false };
                let mut text = Written::default();
                if !matches!(of.top.expr(value).expr, Expr::Text(_) | Expr::Template(_) | Expr::Integer)
                    || !self.append(of, value, depth + 1, &mut text) && !self.append_number(of, value, &mut text)
                {
                    return false;
                }
                // A longer text holds settings of its own: those stand where it does.
                if text.text.text().contains(char::is_whitespace) {
                    out.text.push_mapped(&text.text);
                } else {
                    out.text.push_decoded(text.text.text(), place);
                }
                out.has_holes |= text.has_holes;
            }
            _ => return false,
        }
        true
    }

    fn append_number(&self, code: Code<'a>, id: ExprId, out: &mut Written<'a>) -> bool {
        let place = self.place(code, id);
        let is_number = code.top.expr(id).expr == Expr::Integer;
        if is_number {
            out.text.push_decoded(&place.of(self.text).replace('_', ""), place);
        }
        is_number
    }

    /// `"…{}…".format(x)` and `"…%s…" % x`: the text with holes.
    fn formatted(&self, code: Code<'a>, id: ExprId, depth: usize, mark: char, out: &mut Written<'a>) -> bool {
        let mut text = Written::default();
        if !self.append(code, id, depth + 1, &mut text) {
            return false;
        }
        let source = text.text.text();
        let mut from = 0;
        while let Some(start) = source[from..].find(mark).map(|at| from + at) {
            let end = match mark {
                '{' => source[start..].find('}').map(|length| start + length + 1),
                _ => source[start..].find(|char: char| char.is_ascii_alphabetic()).map(|length| start + length + 1),
            };
            let Some(end) = end else { break };
            out.text.push_mapped(&text.text.slice(from..start));
            out.hole(self.text, text.text.span(start..end));
            from = end;
        }
        out.text.push_mapped(&text.text.slice(from..source.len()));
        out.has_holes |= text.has_holes;
        true
    }

    /// The place of a hole in an f-string.
    fn with_braces(&self, code: Code<'a>, id: ExprId) -> Span {
        let Span { start, end } = self.place(code, id);
        let (before, behind) = (&self.text[..start as usize], &self.text[end as usize..]);
        let opening = before.trim_end_matches([' ', '\t']);
        if !opening.ends_with('{') {
            return Span { start, end };
        }
        let line = behind.split(['\n', '\r', '"', '\'']).next().unwrap_or_default();
        let closing = line.find('}').map_or(0, |at| at + 1);
        Span::new(opening.len() - 1, end as usize + closing)
    }

    fn hole(&self, place: Span) -> Scalar<'a> {
        let mut text = Written::default();
        text.hole(self.text, place);
        Scalar { has_holes: true, ..Scalar::new(text.text, place, false) }
    }
}

/// A text that is put together.
#[derive(Default)]
struct Written<'a> {
    text: Mapped<'a>,
    has_holes: bool,
}

impl Written<'_> {
    /// What isn't known looks like a variable to whoever reads the text.
    fn hole(&mut self, document: &str, place: Span) {
        let written = place.of(document).trim_matches(['{', '}', ' ', '*']);
        let is_name = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let name = if is_name { Cow::Borrowed(written) } else { Cow::Borrowed("_") };
        self.text.push_decoded(&format!("${{{name}}}"), place);
        self.has_holes = true;
    }
}

/// A text that stands for a place of the document.
fn literally<'a>(text: &str, place: Span) -> Mapped<'a> {
    let mut mapped = Mapped::default();
    mapped.push_decoded(text, place);
    mapped
}

/// A sentence about a command: nothing runs it.
fn is_sentence(scalar: &Scalar<'_>) -> bool {
    let text = scalar.as_str();
    let is_long = text.contains(char::is_whitespace);
    is_long
        && (text.contains("spark-") || text.contains("pyspark"))
        && !is_options(text)
        && !is_structured(text)
        && !runs_tool(text)
}

/// Options of a command, without the command.
fn is_options(text: &str) -> bool {
    text.trim_start().starts_with("--") || text.contains("${")
}

/// JSON or YAML.
fn is_structured(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) || text.contains(":\n")
}
