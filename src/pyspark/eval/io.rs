//! Readers and writers.

use std::rc::Rc;

use super::Interpreter;
use super::call::Call;
use crate::pyspark::api::{self, Class, Effect, Run, Setup, Step};
use crate::pyspark::ir::ArgName;
use crate::pyspark::plan::{ActionKind, Literal, Operator, Runs, Source, StreamStart};
use crate::pyspark::value::{Object, Reader, Value, Writer};
use crate::text::Span;

impl<'a> Interpreter<'a> {
    pub(super) fn reader_method(&mut self, reader: &Rc<Reader>, name: &str, call: &Call<'a>) -> Value<'a> {
        let class = if reader.streaming { Class::DataStreamReader } else { Class::DataFrameReader };
        let Some(entry) = api::entry(class, name) else { return Value::Unknown };
        let mut next = (**reader).clone();
        match entry.effect {
            Effect::Setup(Setup::Format) => {
                next.format = call.value(0, "source").and_then(Value::as_text).map(str::to_ascii_lowercase);
            }
            Effect::Setup(Setup::Option) => match self.option(call) {
                Some(option) => next.options.push(option),
                None => next.open = true,
            },
            Effect::Setup(Setup::Options) => {
                next.options.extend(self.options(call));
                next.open |= has_unknown_options(call);
            }
            Effect::Setup(Setup::Schema) => next.has_schema = true,
            Effect::Lazy(Step::ReadTable) if !reader.streaming => return self.table(call),
            Effect::Lazy(step) => {
                let format = (step != Step::Load).then(|| name.to_ascii_lowercase());
                return self.load(next, format, name, call);
            }
            _ => {}
        }
        Value::Reader(Rc::new(next))
    }

    /// A read, in the format that the method's name may tell.
    fn load(&mut self, mut reader: Reader, format: Option<String>, name: &str, call: &Call<'a>) -> Value<'a> {
        if format.is_some() {
            reader.format = format;
        } else if let Some(format) = call.value(1, "format").and_then(Value::as_text) {
            reader.format = Some(format.to_ascii_lowercase());
        }
        reader.has_schema |= call.keyword("schema").is_some();
        reader.open |= has_unknown_options(call);
        reader.options.extend(
            self.options(call).into_iter().filter(|(name, _)| !matches!(name.as_str(), "path" | "schema" | "format")),
        );
        let is_jdbc = name == "jdbc";
        let mut location: Vec<Literal> = Vec::new();
        for (arg, value) in call.args.iter().zip(&call.values) {
            match (arg.name, value) {
                (ArgName::Positional, Value::List(items)) => {
                    location.extend(items.iter().map(|item| item.value.literal()))
                }
                (ArgName::Positional, value)
                    if location.is_empty() || !is_jdbc && name != "load" && name != "csv" && name != "json" =>
                {
                    location.push(value.literal());
                }
                _ => {}
            }
        }
        for keyword in ["path", "paths", "url"] {
            match call.keyword(keyword).map(|(_, value)| value) {
                Some(Value::List(items)) => location.extend(items.iter().map(|item| item.value.literal())),
                Some(value) => location.push(value.literal()),
                None => {}
            }
        }
        if is_jdbc && let Some(table) = call.value(1, "table") {
            location.push(table.literal());
        }
        self.infer_schema(&reader, call);
        let is_database = reader.format.as_deref() == Some("jdbc");
        let asked =
            reader.options.iter().rev().find(|(name, _)| matches!(name.as_str(), "dbtable" | "query" | "table"));
        let asked = asked.map(|(_, value)| value.clone()).or_else(|| location.get(1).filter(|_| is_jdbc).cloned());
        let source = Source::Read {
            format: reader.format,
            location,
            options: reader.options,
            open: reader.open,
            has_schema: reader.has_schema,
            streaming: reader.streaming,
            chain: call.span,
        };
        // The lines may come from an RDD.
        let lines = if let Some(Value::Rdd(lines)) = call.values.first() { Some(*lines) } else { None };
        let site = self.site(call);
        let read = self.node(Operator::Source(source), lines.as_slice(), Some(site));
        Value::Frame(if is_database { self.bounded_by_query(read, asked.as_ref()) } else { read })
    }

    /// Some formats are read once to find their schema.
    fn infer_schema(&mut self, reader: &Reader, call: &Call<'a>) {
        if reader.has_schema || reader.streaming {
            return;
        }
        let asked = reader.options.iter().any(|(name, value)| {
            name == "inferschema"
                && (*value == Literal::Bool(true)
                    || matches!(value, Literal::Text(text) if text.eq_ignore_ascii_case("true")))
        });
        let infers = match reader.format.as_deref() {
            Some("json" | "xml") => true,
            Some("csv") => asked,
            _ => false,
        };
        if infers {
            let method = self.text_at(call.method).to_owned();
            self.act(ActionKind::Other(method), None, false, call);
        }
    }

    fn option(&self, call: &Call<'a>) -> Option<(String, Literal)> {
        let name = call.value(0, "key")?.as_text()?.to_ascii_lowercase();
        Some((name, call.value(1, "value").map(Value::literal).unwrap_or_default()))
    }

    /// Keyword arguments and unpacked dicts as options.
    fn options(&self, call: &Call<'a>) -> Vec<(String, Literal)> {
        let mut options = Vec::new();
        for (arg, value) in call.args.iter().zip(&call.values) {
            match (arg.name, value) {
                (ArgName::Keyword(name), value) => {
                    options.push((self.str(call.code, name).to_ascii_lowercase(), value.literal()))
                }
                (ArgName::DoubleStar, Value::Dict(entries)) => {
                    for entry in entries.iter() {
                        if let Some(name) = entry.key.value.as_text() {
                            options.push((name.to_ascii_lowercase(), entry.value.value.literal()));
                        }
                    }
                }
                _ => {}
            }
        }
        options
    }

    pub(super) fn table(&mut self, call: &Call<'a>) -> Value<'a> {
        let name = call.value(0, "tableName").cloned().unwrap_or(Value::Unknown);
        if let Some(frame) = name.as_text().and_then(|name| self.views.get(&name.to_ascii_lowercase())) {
            return Value::Frame(*frame);
        }
        let site = self.site(call);
        Value::Frame(self.node(Operator::Source(Source::Table(name.literal())), &[], Some(site)))
    }

    /// A view or table that is kept: from here on its name stands for one frame.
    pub(super) fn cache_table(&mut self, name: &str) {
        let key = name.to_ascii_lowercase();
        let known = self.view(name);
        let frame = known
            .unwrap_or_else(|| self.node(Operator::Source(Source::Table(Literal::Text(name.to_owned()))), &[], None));
        self.plan.nodes[frame.0 as usize].cached = true;
        self.views.entry(key).or_insert(frame);
    }

    pub(super) fn writer_method(&mut self, writer: &Rc<Writer>, name: &str, call: &Call<'a>) -> Value<'a> {
        let classes: &[Class] = match writer.streaming {
            true => &[Class::DataStreamWriter],
            false => &[Class::DataFrameWriter, Class::DataFrameWriterV2],
        };
        let Some(entry) = classes.iter().find_map(|class| api::entry(*class, name)) else { return Value::Unknown };
        let mut next = (**writer).clone();
        let write = &mut next.write;
        match entry.effect {
            Effect::Action(run) => return self.write(next, run, name, call),
            Effect::Setup(Setup::Mode) => {
                write.mode = call
                    .value(0, "saveMode")
                    .or_else(|| call.value(0, "outputMode"))
                    .and_then(Value::as_text)
                    .map(str::to_ascii_lowercase);
            }
            Effect::Setup(Setup::Format) => {
                write.format = call.values.first().and_then(Value::as_text).map(str::to_ascii_lowercase)
            }
            Effect::Setup(Setup::Option) => write.options.extend(self.option(call)),
            Effect::Setup(Setup::Options) => write.options.extend(self.options(call)),
            Effect::Setup(Setup::Partitions) => {
                write.partition_by = call.flat().iter().map(Value::literal).collect();
            }
            Effect::Setup(Setup::Trigger) => {
                if let Some((arg, value)) = call.args.first().zip(call.values.first())
                    && let ArgName::Keyword(keyword) = arg.name
                {
                    next.trigger = Some((self.str(call.code, keyword).to_owned(), value.literal(), call.span));
                }
            }
            Effect::Setup(setup @ (Setup::Foreach | Setup::ForeachBatch)) => {
                if let Some(callee) = call.values.first().cloned() {
                    let batch = self.given();
                    let is_batch = setup == Setup::ForeachBatch;
                    let runs = if is_batch { Runs::ForeachBatch } else { Runs::Foreach };
                    self.runs_python(runs, batch, call);
                    next.batch = self.python.get(&call.span).copied().filter(|_| is_batch);
                    self.apply_value(&callee, vec![Value::Frame(batch), Value::Unknown], call);
                }
            }
            _ => {}
        }
        next.write.calls.push(self.site(call));
        Value::Writer(Rc::new(next))
    }

    fn write(&mut self, writer: Writer, run: Run, name: &str, call: &Call<'a>) -> Value<'a> {
        let mut write = writer.write;
        let is_saved = matches!(name, "save" | "saveAsTable");
        if matches!(run, Run::WriteFormat | Run::WriteJdbc) {
            write.format = Some(name.to_owned());
        } else if let Some(format) =
            call.arg(if is_saved { 1 } else { usize::MAX - 1 }, "format").and_then(|(_, value)| value.as_text())
        {
            write.format = Some(format.to_ascii_lowercase());
        }
        if let Some((_, mode)) = if matches!(name, "parquet" | "csv" | "json" | "orc") {
            call.arg(1, "mode")
        } else if is_saved {
            call.arg(2, "mode")
        } else {
            call.keyword("mode")
        } {
            write.mode = mode.as_text().map(str::to_ascii_lowercase).or(write.mode);
        }
        let target = match run {
            Run::WriteTable | Run::StartTable => {
                call.value(0, if name == "saveAsTable" { "name" } else { "tableName" })
            }
            Run::WriteJdbc => call.value(1, "table"),
            Run::WriteGiven => None,
            _ => call.value(0, "path"),
        };
        if let Some(target) = target {
            write.target = target.literal();
        } else if let Some((_, path)) = write.options.iter().find(|(name, _)| name == "path" || name == "dbtable") {
            write.target = path.clone();
        }
        if let Some((_, columns)) = call.keyword("partitionBy") {
            write.partition_by = match columns.literal() {
                Literal::List(columns) => columns,
                column => vec![column],
            };
        }
        write.options.extend(
            self.options(call)
                .into_iter()
                .filter(|(name, _)| !matches!(name.as_str(), "path" | "mode" | "format" | "partitionby" | "name")),
        );
        // A writer out of a variable has its start elsewhere.
        let starts_here = call.span.start <= writer.start && writer.start < call.span.end;
        write.chain = if starts_here { Span { start: writer.start, end: call.span.end } } else { call.span };
        if writer.streaming {
            self.act(ActionKind::Other(name.to_owned()), Some(writer.input), false, call);
            self.plan.streams.push(StreamStart {
                site: self.site(call),
                input: writer.input,
                write,
                trigger: writer.trigger,
                batch: writer.batch,
                scope: self.frame.scope,
            });
            return Value::Object(Object::Query);
        }
        self.act(ActionKind::Write(write), Some(writer.input), false, call);
        Value::None
    }
}

/// `**options` that are no dict with literal keys in this file.
fn has_unknown_options(call: &Call<'_>) -> bool {
    let is_known = |value: &Value<'_>| match value {
        Value::Dict(entries) => entries.iter().all(|entry| entry.key.value.as_text().is_some()),
        _ => false,
    };
    call.args.iter().zip(&call.values).any(|(arg, value)| arg.name == ArgName::DoubleStar && !is_known(value))
}
