//! Readers and writers that branches set up in different ways: `if partitions: writer = writer.partitionBy(*partitions)`.

use std::rc::Rc;

use super::Interpreter;
use crate::pyspark::value::{Reader, Value, Writer};

impl<'a> Interpreter<'a> {
    /// Either of two readers: what both know, and the schema that one of them has.
    pub(super) fn either_reader(&self, a: &Reader, b: &Reader) -> Value<'a> {
        if a.streaming != b.streaming || a.format != b.format {
            return Value::Unknown;
        }
        let shared: Vec<_> = a.options.iter().filter(|option| b.options.contains(option)).cloned().collect();
        let differ = shared.len() != a.options.len() || shared.len() != b.options.len();
        Value::Reader(Rc::new(Reader {
            format: a.format.clone(),
            options: shared,
            open: a.open || b.open || differ,
            has_schema: a.has_schema || b.has_schema,
            streaming: a.streaming,
        }))
    }

    /// Either of two writers of a frame: the columns and options that one of them has, the mode that both have.
    pub(super) fn either_writer(&mut self, a: &Writer, b: &Writer) -> Value<'a> {
        let same_batch = a.batch == b.batch || a.batch.is_none() || b.batch.is_none();
        if a.streaming != b.streaming || a.write.format != b.write.format || !same_batch {
            return Value::Unknown;
        }
        let mut either = a.clone();
        if a.input != b.input {
            either.input = self.merged_node(a.input, b.input);
        }
        let (write, other) = (&mut either.write, &b.write);
        if write.mode != other.mode {
            write.mode = None;
        }
        if write.partition_by.is_empty() {
            write.partition_by.clone_from(&other.partition_by);
        }
        let added = other.options.iter().filter(|option| !a.write.options.contains(option));
        write.options.extend(added.cloned());
        let added = other.calls.iter().filter(|call| a.write.calls.iter().all(|known| known.call != call.call));
        write.calls.extend(added.cloned());
        either.batch = a.batch.or(b.batch);
        if a.trigger != b.trigger {
            // `once` is deprecated wherever it is written; of intervals none is known.
            let once = |writer: &Writer| writer.trigger.clone().filter(|(keyword, _, _)| keyword == "once");
            either.trigger = once(a).or_else(|| once(b));
        }
        Value::Writer(Rc::new(either))
    }
}
