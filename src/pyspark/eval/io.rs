//! Readers and writers.

use std::rc::Rc;

use super::Interpreter;
use super::call::Call;
use crate::pyspark::api;
use crate::pyspark::ir::ArgName;
use crate::pyspark::plan::{ActionKind, Literal, Operator, Runs, Source, StreamStart};
use crate::pyspark::value::{Object, Reader, Value, Writer};
use crate::text::Span;

impl<'a> Interpreter<'a> {
    pub(super) fn reader_method(&mut self, reader: &Rc<Reader>, name: &str, call: &Call<'a>) -> Value<'a> {
        let mut next = (**reader).clone();
        match name {
            "format" => next.format = call.value(0, "source").and_then(Value::as_text).map(str::to_ascii_lowercase),
            "option" => match self.option(call) {
                Some(option) => next.options.push(option),
                None => next.open = true,
            },
            "options" => {
                next.options.extend(self.options(call));
                next.open |= has_unknown_options(call);
            }
            "schema" => next.has_schema = true,
            "table" if !reader.streaming => return self.table(call),
            "load" | "table" | "parquet" | "orc" | "csv" | "json" | "text" | "jdbc" | "xml" | "avro" | "delta"
            | "textFile" => {
                return self.load(next, name, call);
            }
            _ => {
                let class = if reader.streaming { "DataStreamReader" } else { "DataFrameReader" };
                return match api::entry(class, name).map(|entry| entry.returns) {
                    Some("DataFrame") => self.load(next, name, call),
                    Some(_) => Value::Reader(reader.clone()),
                    None => Value::Unknown,
                };
            }
        }
        Value::Reader(Rc::new(next))
    }

    fn load(&mut self, mut reader: Reader, name: &str, call: &Call<'a>) -> Value<'a> {
        if name != "load" {
            reader.format = Some(name.to_ascii_lowercase());
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

    pub(super) fn writer_method(&mut self, writer: &Rc<Writer>, name: &str, call: &Call<'a>) -> Value<'a> {
        let mut next = (**writer).clone();
        let write = &mut next.write;
        match name {
            "mode" | "outputMode" => {
                write.mode = call
                    .value(0, "saveMode")
                    .or_else(|| call.value(0, "outputMode"))
                    .and_then(Value::as_text)
                    .map(str::to_ascii_lowercase);
            }
            "format" | "using" => {
                write.format = call.values.first().and_then(Value::as_text).map(str::to_ascii_lowercase)
            }
            "option" => write.options.extend(self.option(call)),
            "options" => write.options.extend(self.options(call)),
            "partitionBy" | "partitionedBy" => write.partition_by = call.flat().iter().map(Value::literal).collect(),
            "trigger" => {
                if let Some((arg, value)) = call.args.first().zip(call.values.first())
                    && let ArgName::Keyword(keyword) = arg.name
                {
                    next.trigger = Some((self.str(call.code, keyword).to_owned(), value.literal(), call.span));
                }
            }
            "foreachBatch" | "foreach" => {
                if let Some(callee) = call.values.first().cloned() {
                    let batch = self.given();
                    let runs = if name == "foreach" { Runs::Foreach } else { Runs::ForeachBatch };
                    self.runs_python(runs, batch, call);
                    next.batch = self.python.get(&call.span).copied().filter(|_| name == "foreachBatch");
                    self.apply_value(&callee, vec![Value::Frame(batch), Value::Unknown], call);
                }
            }
            "save"
            | "saveAsTable"
            | "insertInto"
            | "parquet"
            | "orc"
            | "csv"
            | "json"
            | "text"
            | "jdbc"
            | "xml"
            | "avro"
            | "delta"
            | "append"
            | "overwrite"
            | "overwritePartitions"
            | "create"
            | "createOrReplace"
            | "replace"
            | "start"
            | "toTable" => {
                return self.write(next, name, call);
            }
            _ => {
                let classes = if writer.streaming {
                    ["DataStreamWriter", "DataStreamWriter"]
                } else {
                    ["DataFrameWriter", "DataFrameWriterV2"]
                };
                if classes.iter().all(|class| api::entry(class, name).is_none()) {
                    return Value::Unknown;
                }
            }
        }
        next.write.calls.push(self.site(call));
        Value::Writer(Rc::new(next))
    }

    fn write(&mut self, writer: Writer, name: &str, call: &Call<'a>) -> Value<'a> {
        let mut write = writer.write;
        if matches!(name, "parquet" | "orc" | "csv" | "json" | "text" | "jdbc" | "xml" | "avro" | "delta") {
            write.format = Some(name.to_owned());
        } else if let Some(format) = call.keyword("format").and_then(|(_, value)| value.as_text()) {
            write.format = Some(format.to_ascii_lowercase());
        }
        if let Some((_, mode)) =
            if matches!(name, "parquet" | "csv" | "json" | "orc") { call.arg(1, "mode") } else { call.keyword("mode") }
        {
            write.mode = mode.as_text().map(str::to_ascii_lowercase).or(write.mode);
        }
        let target = match name {
            "saveAsTable" => call.value(0, "name"),
            "insertInto" | "toTable" => call.value(0, "tableName"),
            "jdbc" => call.value(1, "table"),
            "append" | "overwrite" | "overwritePartitions" | "create" | "createOrReplace" | "replace" => None,
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
