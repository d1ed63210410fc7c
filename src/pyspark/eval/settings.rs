//! Settings written in code.

use std::rc::Rc;

use super::Interpreter;
use super::call::Call;
use crate::conf::carriers::sql;
use crate::conf::{self, Carrier, Setting};
use crate::pyspark::sql::HOLE;
use crate::pyspark::sql::place::SourceMap;
use crate::pyspark::value::{Entry, Item, Value};
use crate::text::Span;

/// A key or value as Spark receives it, and where it is written.
type Written<'v, 'a> = (&'v Value<'a>, Span);

impl<'a> Interpreter<'a> {
    /// `set(key, value)`, `config(key, value)`.
    pub(super) fn pair_setting(&mut self, carrier: Carrier, call: &Call<'a>, key: &str, value: &str) {
        let Some((key_arg, key)) = call.arg(0, key) else { return };
        let key_span = self.value_span(call.code, key_arg.value);
        let written = call.arg(1, value).map(|(arg, value)| (value, self.value_span(call.code, arg.value)));
        let span = self.removal(call);
        // A loop over a dict's items sets all of them.
        if let (Value::TurnKey(entries), Some((Value::TurnItem(values), _))) = (key, written)
            && Rc::ptr_eq(entries, values)
        {
            self.entry_settings(carrier, entries);
            return;
        }
        self.setting(carrier, (key, key_span), written, span);
    }

    /// `config(...)` in its three forms.
    pub(super) fn builder_settings(&mut self, call: &Call<'a>) {
        if let Some((_, map)) = call.keyword("map") {
            let map = map.clone();
            self.collection_settings(Carrier::Builder, &map);
        } else if call.keyword("conf").is_none() {
            self.pair_setting(Carrier::Builder, call, "key", "value");
        }
    }

    /// A dict, or a list of pairs.
    pub(super) fn collection_settings(&mut self, carrier: Carrier, collection: &Value<'a>) {
        match collection {
            Value::Dict(entries) => self.entry_settings(carrier, entries),
            Value::List(items) | Value::Tuple(items) => {
                for item in items.iter() {
                    match &item.value {
                        Value::Tuple(pair) | Value::List(pair) => {
                            if let [key, value] = &pair[..] {
                                match (&key.value, &value.value) {
                                    (Value::TurnKey(entries), _) => self.entry_settings(carrier, entries),
                                    _ => self.setting(
                                        carrier,
                                        (&key.value, key.span),
                                        Some((&value.value, value.span)),
                                        item.span,
                                    ),
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn entry_settings(&mut self, carrier: Carrier, entries: &[Entry<'a>]) {
        for Entry { key, value, span } in entries {
            let Item { value: key, span: key_span } = key;
            self.setting(carrier, (key, *key_span), Some((&value.value, value.span)), *span);
        }
    }

    /// `master("…")`, `appName("…")` and their forms on `SparkConf`: the key is the method's name.
    pub(super) fn named_setting(&mut self, method: &str, carrier: Carrier, call: &Call<'a>) {
        let Some((arg, value)) =
            call.arg(0, if method.ends_with("aster") { "master" } else { "name" }).or_else(|| call.arg(0, "value"))
        else {
            return;
        };
        let value_span = self.value_span(call.code, arg.value);
        if let Some(text) = value.as_text() {
            let text = text.to_owned();
            self.note_name(method, &text);
        }
        let key = if method.ends_with("aster") { "spark.master" } else { "spark.app.name" };
        let span = self.removal(call);
        self.setting(carrier, (&Value::text(key, None), call.method), Some((value, value_span)), span);
    }

    pub(super) fn note_name(&mut self, method: &str, text: &str) {
        if method.ends_with("aster") {
            self.plan.uses.local_master |= text.starts_with("local");
        } else {
            self.plan.uses.app_name.get_or_insert_with(|| text.to_owned());
        }
    }

    /// `SET key = value` in SQL.
    pub(super) fn sql_setting(&mut self, text: &str, map: &SourceMap) {
        let Some((key, value)) = sql::set(text) else { return };
        let (key_span, value_span) = (map.span(&key), map.span(&value));
        let (key, value) = (holed(text[key].trim_matches('`')), holed(&text[value]));
        self.setting(Carrier::SqlSet, (&key, key_span), Some((&value, value_span)), self.frame.statement);
    }

    /// What a removal takes: the statement, or the link of a chain from its dot on.
    fn removal(&self, call: &Call<'a>) -> Span {
        let statement = self.frame.statement;
        if call.span == statement || call.receiver.is_empty() {
            return call.span;
        }
        let is_chain = self.text_at(call.method) != "set" && self.text_at(call.method) != "setConf";
        if is_chain || call.span.end != statement.end {
            Span { start: call.receiver.end, end: call.span.end }
        } else {
            statement
        }
    }

    fn setting(&mut self, carrier: Carrier, key: Written<'_, 'a>, value: Option<Written<'_, 'a>>, span: Span) {
        let (text, key_is_prefix) = match key.0 {
            Value::Text(text) => (text.text.clone(), false),
            Value::Template(template) => match template.parts.first() {
                Some(Some(prefix)) => (prefix.clone(), true),
                _ => return,
            },
            _ => return,
        };
        let (value, value_span) = match value {
            Some((value, span)) => (spark_value(value), span),
            None => (conf::Value::Unknown, Span { start: key.1.end, end: key.1.end }),
        };
        match self.settings.get(&(key.1, span)) {
            // A function that is read again with another argument: the value depends on the caller.
            Some(index) => {
                let known = &mut self.plan.settings[*index].value;
                if *known != value {
                    *known = conf::Value::Unknown;
                }
            }
            None => {
                self.settings.insert((key.1, span), self.plan.settings.len());
                self.plan.settings.push(Setting {
                    key: text,
                    key_is_prefix,
                    value,
                    key_span: key.1,
                    value_span,
                    span,
                    carrier,
                });
            }
        }
    }
}

/// A piece of SQL as a value; holes make a template.
fn holed<'a>(text: &str) -> Value<'a> {
    match text.split_once(HOLE) {
        Some((prefix, _)) => Value::Template(Rc::new(vec![Some(prefix.to_owned()), None].into())),
        None => Value::text(text, None),
    }
}

/// What Spark receives for a Python value.
fn spark_value(value: &Value<'_>) -> conf::Value {
    match value {
        Value::Text(text) if ["${", "{{", "<%"].iter().any(|mark| text.text.contains(mark)) => conf::Value::Template,
        Value::Text(text) => conf::Value::Literal(text.text.clone()),
        Value::Template(_) => conf::Value::Template,
        Value::Bool(value) => conf::Value::Literal(value.to_string()),
        Value::Integer(value) => conf::Value::Literal(value.to_string()),
        Value::Float(value) => {
            conf::Value::Literal(if value.fract() == 0.0 { format!("{value:.1}") } else { value.to_string() })
        }
        Value::None => conf::Value::Literal("None".to_owned()),
        _ => conf::Value::Unknown,
    }
}
