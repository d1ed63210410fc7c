//! Cells of the shell in a Databricks notebook that is kept as Python: `# MAGIC %sh`.

use memchr::memmem;

use super::plan::StaticPlan;
use crate::conf::carriers::{self, Mapped};
use crate::text::Span;

const MAGIC: &str = "# MAGIC";

/// A run of `# MAGIC` lines.
struct Cell<'a> {
    language: &'a str,
    /// What stands behind the language and in the lines below, without the marks.
    body: Mapped<'a>,
}

/// Adds what the cells set and start to the plan.
pub(super) fn read(text: &str, plan: &mut StaticPlan) {
    if memmem::find(text.as_bytes(), MAGIC.as_bytes()).is_none() {
        return;
    }
    for cell in cells(text) {
        if cell.language == "%sh" {
            plan.add(carriers::extract_script(&cell.body));
        }
    }
}

fn cells(text: &str) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell<'_>> = Vec::new();
    let mut is_open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let Some(rest) = line.strip_prefix(MAGIC) else {
            is_open = false;
            at = end;
            continue;
        };
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let start = end - rest.len();
        if rest.starts_with('%') && !rest.starts_with("%%") || !is_open {
            let language = rest.split_whitespace().next().unwrap_or_default();
            let mut body = Mapped::default();
            let from = start + (rest.len() - rest.trim_start().len()) + language.len();
            body.push(text, Span::new(from.min(end), end));
            cells.push(Cell { language, body });
        } else if let Some(cell) = cells.last_mut() {
            cell.body.push(text, Span::new(start, end));
        }
        is_open = true;
        at = end;
    }
    cells
}

#[cfg(test)]
mod tests {
    use crate::pyspark::PythonFile;

    #[test]
    fn cells_of_other_languages_are_read() {
        let text = "# Databricks notebook source\n# MAGIC %md SET spark.a = 1\n\n\
                    # COMMAND ----------\n\n# MAGIC %sh\n# MAGIC spark-submit \\\n# MAGIC   --conf spark.b=2 \\\n\
                    # MAGIC   job.py\n";
        let file = PythonFile::parse(&text.into());
        let plan = file.plan();
        let found: Vec<(&str, &str)> =
            plan.settings.iter().map(|setting| (setting.key_span.of(text), setting.value_span.of(text))).collect();
        assert_eq!(found, [("spark.b", "2")]);
        assert_eq!(plan.submits[0].application.as_ref().map(|script| script.text.as_str()), Some("job.py"));
        assert_eq!(plan.submits[0].settings, [0]);
    }
}
