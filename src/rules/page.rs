//! A rule's documentation as a page of its own.

use std::fmt::Write as _;

use super::{Group, Rule, Severity};

impl Group {
    /// Its name, in lower case.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// What its rules are about.
    pub fn about(self) -> &'static str {
        match self {
            Self::Settings => "values of settings that cost time, or stop the job",
            Self::Carriers => "where and how settings are written",
            Self::Driver => "actions that bring rows to the driver or start jobs",
            Self::Plan => "the shape of the plan: loops, sorts, pivots",
            Self::Cache => "frames that are computed again, and caches",
            Self::Joins => "joins, broadcasts and skewed keys",
            Self::Partitions => "partitions and writes",
            Self::Reads => "reads of files and databases",
            Self::Udfs => "Python that runs on rows",
            Self::Windows => "windows and aggregates",
            Self::Streaming => "structured streaming",
            Self::Correctness => "results that may be wrong, and secrets",
            Self::Run => "what the event log of a run measured",
        }
    }
}

impl Rule {
    /// Its page in Markdown.
    pub fn page(&self) -> String {
        let mut page = format!("# {}\n\n{}\n", self.name, self.spaced_docs().trim_end());
        if !self.options.is_empty() {
            let _ = write!(page, "\n## Options\n\nIn `sparkls.toml`, under `[rules.{}]`:\n\n", self.name);
            page.push_str("| option | default | what it is |\n| --- | --- | --- |\n");
            for option in self.options {
                let help = option.help.replace('|', "\\|");
                let _ = writeln!(page, "| `{}` | {} | {help} |", option.name, option.default);
            }
        }
        let switch = match self.off {
            true => format!("off, switched on by `{} = \"on\"` under `[rules]` in `sparkls.toml`", self.name),
            false => format!("{}, ignored on one line by `# sparkls: ignore[{}]`", word(self.severity), self.name),
        };
        let confidence = format!("{:?}", self.confidence).to_lowercase();
        let _ =
            write!(page, "\n---\n\n{} · {confidence} · {switch} · since sparkls {}\n", self.group.name(), self.since);
        page
    }

    /// The address of its page, if the manifest of this build names the repository.
    pub fn published(&self) -> Option<String> {
        published_in(env!("CARGO_PKG_REPOSITORY"), self.name)
    }

    /// The documentation without the blank that comments start with; the summary and headings stand alone, so that every
    /// reader of Markdown sees them.
    fn spaced_docs(&self) -> String {
        let mut text = String::new();
        let mut is_code = false;
        for (index, line) in self.docs.trim_end().lines().enumerate() {
            let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
            is_code ^= line.starts_with("```");
            let is_alone = index == 0 || !is_code && line.starts_with('#');
            text.push_str(&if is_alone { format!("\n{line}\n\n") } else { format!("{line}\n") });
        }
        squeezed(text.trim_start())
    }
}

fn published_in(repository: &str, rule: &str) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    let repository = repository.trim_end_matches('/');
    (!repository.is_empty()).then(|| format!("{repository}/blob/v{version}/docs/rules/{rule}.md"))
}

fn word(severity: Severity) -> String {
    format!("{severity:?}").to_lowercase()
}

/// No more than one empty line in a row.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let mut was_empty = false;
    for line in text.lines() {
        if !(line.is_empty() && was_empty) {
            squeezed.push_str(line);
            squeezed.push('\n');
        }
        was_empty = line.is_empty();
    }
    squeezed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_an_address_only_where_the_repository_is_known() {
        assert_eq!(published_in("", "spill"), None);
        let address = published_in("https://example.org/sparkls/", "spill").unwrap_or_default();
        assert!(address.starts_with("https://example.org/sparkls/blob/v"), "{address}");
        assert!(address.ends_with("/docs/rules/spill.md"), "{address}");
    }
}
