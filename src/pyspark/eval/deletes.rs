//! Calls that delete what lies under a path.

use super::call::Call;
use super::{Interpreter, template_text};
use crate::pyspark::plan::{Literal, PathDelete};
use crate::pyspark::value::Value;

/// What starts a command of a shell.
const STARTERS: [&str; 7] = ["system", "run", "call", "check_call", "check_output", "Popen", "getoutput"];

impl<'a> Interpreter<'a> {
    /// Notes `dbutils.fs.rm(path)`, `shutil.rmtree(path)`, `os.system("hadoop fs -rm -r path")` and the like.
    pub(super) fn note_delete(&mut self, call: &Call<'a>) {
        let Some(place) = self.deleted(call) else { return };
        let (path, written) = place;
        let site = self.site(call);
        let known = |delete: &PathDelete| delete.site.call == site.call;
        if !self.plan.deletes.iter().any(known) {
            self.plan.deletes.push(PathDelete { site, path, written, scope: self.frame.scope });
        }
    }

    /// The path that a call deletes, and the expression for it.
    fn deleted(&self, call: &Call<'a>) -> Option<(Literal, String)> {
        let receiver = self.text_at(call.receiver);
        match self.text_at(call.method) {
            "rm" if receiver.ends_with("fs") => self.argument_as_path(call, "dir"),
            "rmtree" if matches!(receiver, "" | "shutil") => self.argument_as_path(call, "path"),
            method if STARTERS.contains(&method) && matches!(receiver, "" | "os" | "subprocess") => {
                self.deleted_by_command(call)
            }
            _ => None,
        }
    }

    fn argument_as_path(&self, call: &Call<'a>, keyword: &str) -> Option<(Literal, String)> {
        let (arg, value) = call.arg(0, keyword)?;
        Some((value.literal(), self.text_at(self.span_of(call.code, arg.value)).to_owned()))
    }

    fn deleted_by_command(&self, call: &Call<'a>) -> Option<(Literal, String)> {
        let (arg, value) = call.arg(0, "args")?;
        if let Value::List(items) | Value::Tuple(items) = value {
            let word = |index: usize| items.get(index).and_then(|item| item.value.as_text());
            let at = (0..items.len()).find(|&index| word(index).is_some_and(is_remove))?;
            let path = (at + 1..items.len()).find(|&index| !word(index).is_some_and(|word| word.starts_with('-')))?;
            return Some((items[path].value.literal(), self.text_at(items[path].span).to_owned()));
        }
        let text = template_text(&value.literal())?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| is_remove(word))?;
        let path = *words.iter().skip(at + 1).find(|word| !word.starts_with('-'))?;
        let path = path.trim_matches(['"', '\'']);
        if !path.contains('?') {
            return Some((Literal::Text(path.to_owned()), String::new()));
        }
        // A hole that is the whole path: the expression in it.
        let written = self.text_at(self.span_of(call.code, arg.value));
        let hole = written.rsplit_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(hole, _)| hole);
        Some((Literal::Unknown, hole.filter(|_| path == "?")?.to_owned()))
    }
}

/// The word of a command that removes: `rm`, `hadoop fs -rm`.
fn is_remove(word: &str) -> bool {
    matches!(word, "rm" | "-rm" | "-rmr")
}
