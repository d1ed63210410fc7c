//! `spark.sql(...)`: the text's steps as nodes of the plan, on the characters of the file.

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::call::Call;
use super::column::MOST_CALLS;
use super::frame::projection;
use super::{Interpreter, template_text};
use crate::conf::carriers::sql::leading_comments;
use crate::pyspark::plan::{
    Action, ActionKind, CallSite, FunctionCall, Language, Literal, NodeId, Operator, OverWindow, ResultUse, ResultUses,
    RowBound, Source, WindowOrder, Write,
};
use crate::pyspark::sql::place::{self, Piece, Pieces, SourceMap};
use crate::pyspark::sql::{self, Command, CommandKind, HOLE, Lowered, Place, Statement};
use crate::pyspark::value::{Code, Column, Relation, TextValue, Value};
use crate::text::Span;

/// What makes an expression a query.
const SELECT: &str = "SELECT ";

/// A text that is read as SQL.
struct Text {
    /// With something in each hole.
    text: String,
    pieces: Pieces,
    /// What stands for places that the file doesn't hold.
    whole: Span,
}

/// What a statement left in the plan.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    /// What its query returns.
    rows: Option<NodeId>,
    /// Its write is an action of the plan.
    writes: bool,
}

impl<'a> Interpreter<'a> {
    /// `spark.sql(...)`: the rows of its query, and what a command does.
    pub(super) fn sql(&mut self, call: &Call<'a>) -> Value<'a> {
        let literal = call.value(0, "sqlQuery").map(Value::literal).unwrap_or_default();
        if let Some(text) = call.value(0, "sqlQuery") {
            self.uses_text(&text.clone());
        }
        let statement = template_text(&literal).as_deref().map(sql::read);
        let done = match self.sql_text(call) {
            None => Done::default(),
            Some(text) => self.run_sql(&text).unwrap_or_default(),
        };
        let bound = match statement {
            None => RowBound::Unknown,
            Some(Statement::Query(bound)) => bound,
            Some(Statement::Small) => RowBound::Small,
            Some(Statement::Command) => {
                if !done.writes {
                    self.act(ActionKind::Other("sql".to_owned()), None, false, call);
                }
                RowBound::Small
            }
        };
        let whole = self.source(Source::Sql { text: literal, bound }, call);
        match (statement, done.rows) {
            (Some(Statement::Query(_)), Some(root)) => Value::Frame(root),
            _ => whole,
        }
    }

    /// The text of the call, if the file tells it.
    fn sql_text(&mut self, call: &Call<'a>) -> Option<Text> {
        let (arg, value) = call.arg(0, "sqlQuery")?;
        let (text, pieces) = match value {
            Value::Text(text) => (text.text.clone(), text.pieces.clone()),
            Value::Template(template) => {
                (template.parts.iter().map(|part| part.as_deref().unwrap_or(HOLE)).collect(), template.pieces.clone())
            }
            _ => return None,
        };
        let text = if call.args.len() > 1 { self.with_arguments(text, call) } else { text };
        let text = with_line_feeds(text);
        Some(Text { text, pieces, whole: self.span_of(call.code, arg.value) })
    }

    /// `spark.sql("… {df} …", df=df)`: an argument's name stands for its value, as long as it was with its braces.
    fn with_arguments(&mut self, mut text: String, call: &Call<'a>) -> String {
        for (arg, value) in call.args.iter().zip(&call.values) {
            let crate::pyspark::ir::ArgName::Keyword(name) = arg.name else { continue };
            let name = self.str(call.code, name);
            let written = format!("{{{name}}}");
            if text.contains(&written) {
                let view = format!("_{name}_");
                text = text.replace(&written, &view);
                match value {
                    Value::Frame(frame) => drop(self.views.insert(view, *frame)),
                    _ => drop(self.views.remove(&view)),
                }
            }
        }
        text
    }

    /// The statements of a notebook's cell in SQL; a line is between its mark and its end.
    pub(super) fn sql_cell(&mut self, code: Code<'a>, lines: &[Span]) {
        self.plan.uses.is_spark = true;
        let (mut text, mut pieces) = (String::new(), Pieces::new());
        let mut end = None;
        for line in lines.iter().map(|line| code.span(*line)) {
            if let Some(end) = end {
                pieces.push(Piece { span: Span { start: end, end: line.start }, ..Piece::elsewhere("\n") });
                text.push('\n');
            }
            let written = self.text_at(line);
            pieces.push(Piece::of_literal(written, line, true, false));
            text.push_str(written);
            end = Some(line.end);
        }
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
        let whole = code.span(first.cover(*last));
        // What a template fills in may be any part of a statement.
        let is_filled_in =
            |range: &std::ops::Range<usize>| ["{{", "{%"].iter().any(|mark| text[range.clone()].contains(mark));
        for range in sql::split(&text).into_iter().filter(|range| !is_filled_in(range)) {
            let statement = Text { text: text[range.clone()].to_owned(), pieces: place::slice(&pieces, &range), whole };
            // A comment above a statement is no part of it.
            let written = leading_comments(&statement.text)..statement.text.len();
            let map = SourceMap::new(&statement.pieces, |span| self.text_at(span), HOLE.len(), whole);
            self.frame.statement = map.span(&written);
            self.run_sql(&statement);
        }
    }

    /// Adds a statement's nodes; `None` if it can't be read.
    fn run_sql(&mut self, text: &Text) -> Option<Done> {
        let map = SourceMap::new(&text.pieces, |span| self.text_at(span), HOLE.len(), text.whole);
        self.plan.sql.push(map.span(&(0..text.text.len())));
        self.sql_setting(&text.text, &map);
        let lowered: Arc<Lowered> = sql::lowered(&text.text)?;
        self.steps += lowered.steps.len();
        if self.steps > self.budget {
            return None;
        }
        let nodes = self.sql_nodes(&lowered, &map);
        self.sql_functions(&lowered, &nodes, &map);
        let root = lowered.root.and_then(|root| nodes.get(root)).copied();
        if let Some(command) = &lowered.command {
            self.sql_command(command, root, &map);
        }
        let writes = matches!(&lowered.command, Some(Command { kind: CommandKind::Write(_), .. }));
        Some(Done { rows: root, writes })
    }

    fn sql_nodes(&mut self, lowered: &Lowered, map: &SourceMap) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = Vec::with_capacity(lowered.steps.len());
        for step in &lowered.steps {
            let view = match &step.operator {
                Operator::Source(Source::Table(Literal::Text(name))) => self.view(name),
                _ => None,
            };
            let node = view.unwrap_or_else(|| {
                let inputs: SmallVec<[NodeId; 2]> =
                    step.inputs.iter().filter_map(|input| nodes.get(*input)).copied().collect();
                let site = self.sql_site(&step.place, map);
                self.node(step.operator.clone(), &inputs, Some(site))
            });
            nodes.push(node);
        }
        nodes
    }

    /// The frame of a temporary view of the file.
    pub(super) fn view(&self, name: &str) -> Option<NodeId> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("global_temp.").unwrap_or(&name);
        self.views.get(name).copied()
    }

    /// Adds windows and calls; says where they are in the plan.
    fn sql_functions(&mut self, lowered: &Lowered, nodes: &[NodeId], map: &SourceMap) -> (Vec<usize>, Vec<u32>) {
        let mut windows = Vec::with_capacity(lowered.windows.len());
        for window in &lowered.windows {
            let site = self.sql_site(&window.place, map);
            let index = *self.windows.entry(site.call).or_insert(self.plan.windows.len());
            if index == self.plan.windows.len() {
                self.plan.windows.push(WindowOrder {
                    site,
                    partitioned: window.partitioned,
                    keys: Vec::new(),
                    used_on: Vec::new(),
                });
            }
            let used_on = window.used_on.and_then(|step| nodes.get(step)).copied();
            self.plan.windows[index].used_on.extend(used_on);
            windows.push(index);
        }
        let mut calls = Vec::with_capacity(lowered.calls.len());
        for call in &lowered.calls {
            let udf = self.registered.get(&call.name).copied();
            // A function of the session that this file doesn't register.
            if udf.is_none() && call.over.is_none() && !sql::is_builtin(&call.name) {
                continue;
            }
            let span = map.span(&call.call);
            let next = self.plan.functions.len() as u32;
            let index = *self.functions.entry(span).or_insert(next);
            calls.push(index);
            if index == next {
                let over = call.over.as_ref().map(|over| OverWindow {
                    order: over.order.and_then(|order| windows.get(order)).copied(),
                    partitioned: over.partitioned,
                    framed: over.framed,
                    call: map.span(&over.place),
                });
                self.plan.functions.push(FunctionCall {
                    language: Language::Sql,
                    name: call.name.clone(),
                    udf,
                    call: span,
                    method: map.span(&call.method),
                    arguments: map.span(&call.arguments),
                    args: call.args.clone(),
                    columns: call.columns.clone(),
                    over,
                    scope: self.frame.scope,
                    used_in: SmallVec::new(),
                });
            }
            let used_in = call.used_in.and_then(|step| nodes.get(step)).copied();
            if let (Some(node), Some(function)) = (used_in, self.plan.functions.get_mut(index as usize))
                && !function.used_in.contains(&node)
            {
                function.used_in.push(node);
            }
        }
        (windows, calls)
    }

    /// A column that is written in SQL; `whole` stands for places that the file doesn't hold.
    pub(super) fn sql_column(&mut self, text: &TextValue, whole: Span) -> Column {
        let (aggregate, explodes) = sql::expression(&text.text);
        let relation = if sql::is_key_equality(&text.text) {
            Relation::Key
        } else if sql::compares(&text.text) {
            sql::condition(&text.text)
        } else {
            Relation::Unknown
        };
        let mut column = Column { aggregate, explodes, relation, ..Column::default() };
        if (sql::has_window(&text.text) || self.calls_registered(&text.text))
            && let Some(lowered) = sql::lowered(&format!("{SELECT}{}", text.text))
        {
            let pieces: Pieces = std::iter::once(Piece::elsewhere(SELECT)).chain(text.pieces.iter().copied()).collect();
            let map = SourceMap::new(&pieces, |span| self.text_at(span), HOLE.len(), whole);
            let (windows, calls) = self.sql_functions(&lowered, &[], &map);
            column.udf =
                calls.iter().any(|call| self.plan.functions.get(*call as usize).is_some_and(|call| call.udf.is_some()));
            column.windowed = lowered.calls.iter().any(|call| call.over.is_some());
            column.window = windows.first().copied();
            column.calls = calls.into_iter().take(MOST_CALLS).collect();
        }
        column
    }

    /// Whether an expression calls a UDF that the file registered.
    fn calls_registered(&self, text: &str) -> bool {
        let text = if self.registered.is_empty() { String::new() } else { text.to_ascii_lowercase() };
        self.registered.keys().any(|name| text.contains(name.as_str()))
    }

    /// `selectExpr(...)`: each text is a column.
    pub(super) fn select_expr(&mut self, frame: NodeId, call: &Call<'a>) -> Value<'a> {
        let values = call.flat();
        let columns: Vec<Value<'a>> = values
            .into_iter()
            .map(|value| match &value {
                Value::Text(text) => Value::Column(Rc::new(self.sql_column(text, call.arguments))),
                _ => value,
            })
            .collect();
        let result = self.on(frame, projection(&columns), call);
        if let Value::Frame(node) = result {
            self.used_in(node, &columns);
        }
        for column in &columns {
            if let Value::Column(column) = column
                && let Some(window) = column.window.and_then(|window| self.plan.windows.get_mut(window))
            {
                window.used_on.push(frame);
            }
        }
        result
    }

    fn sql_command(&mut self, command: &Command, root: Option<NodeId>, map: &SourceMap) {
        let site = self.sql_site(&command.place, map);
        match &command.kind {
            CommandKind::Write(write) => {
                let write = Write { chain: site.call, ..write.clone() };
                self.action(Action {
                    kind: ActionKind::Write(write),
                    method: "sql".to_owned(),
                    input: root,
                    site,
                    scope: self.frame.scope,
                    loops: self.frame.loops.clone(),
                    conditional: self.frame.conditional,
                    result: ResultUse::Discarded,
                    uses: ResultUses::default(),
                    on_rdd: false,
                });
            }
            CommandKind::View(name) => {
                if let Some(root) = root {
                    self.views.insert(name.to_ascii_lowercase(), root);
                }
            }
            CommandKind::Cache(name) => {
                if let Some(root) = root {
                    self.views.insert(name.to_ascii_lowercase(), root);
                }
                self.cache_table(name);
            }
            CommandKind::Uncache(name) => {
                if let Some(frame) = self.view(name)
                    && self.released.insert(site.call)
                {
                    self.plan.unpersists.push((frame, site));
                }
            }
        }
    }

    fn sql_site(&self, place: &Place, map: &SourceMap) -> CallSite {
        let call = map.span(&place.clause);
        CallSite {
            language: Language::Sql,
            call,
            receiver: Span { start: call.start, end: call.start },
            method: map.span(&place.word),
            arguments: map.span(&place.inside),
            args: Vec::new(),
            statement: self.frame.statement,
            class: None,
        }
    }
}

/// Python reads each line end as `\n`; a lone `\r` would hide what stands behind a comment.
fn with_line_feeds(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    let mut letters = text.chars().peekable();
    let mut fed = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        fed.push(if letter == '\r' && letters.peek() != Some(&'\n') { '\n' } else { letter });
    }
    fed
}
