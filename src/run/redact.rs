//! A run that can be shown to others: what it says of its application, hosts, paths and users is replaced.
//!
//! One thing keeps one replacement everywhere (`host-2`, `path-7.parquet`), so that findings still say which was which.
//! Numbers, times, operators, columns and settings stay.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::{Captures, Regex};

use super::model::PlanNode;
use super::{Run, Shared};

/// Replaces the names of the application, its hosts, its user and all paths and addresses, in every text of the run.
pub fn redact(run: &mut Run) {
    let mut redactor = Redactor::new(run);
    let texts = &mut redactor;
    let application = &mut run.application;
    for (name, replacement) in [(&mut application.id, "application"), (&mut application.name, "job")] {
        if name.is_some() {
            *name = Some(replacement.to_owned());
        }
    }
    application.user = None;
    application.command = None;
    for (index, host) in run.hosts.iter_mut().enumerate() {
        *host = host_name(index);
    }
    run.conf.values_mut().for_each(|value| texts.redact(value));
    run.coverage.notes.iter_mut().for_each(|note| texts.redact(note));
    for executor in &mut run.executors {
        texts.redact_some(&mut executor.removed_reason);
    }
    for stage in run.stages.values_mut() {
        texts.redact_shared(&mut stage.name, Redactor::redact_site);
        texts.redact_shared(&mut stage.details, Redactor::redact);
        texts.redact_some(&mut stage.failure);
        stage.call_site.iter_mut().for_each(|site| texts.redact_site(site));
        stage.failures.iter_mut().for_each(|failure| texts.redact(&mut failure.message));
        for rdd in &mut stage.rdds {
            texts.redact_shared(&mut rdd.name, Redactor::redact);
            texts.redact_shared(&mut rdd.call_site, Redactor::redact_site);
        }
    }
    for job in run.jobs.values_mut() {
        job.call_site.iter_mut().for_each(|site| texts.redact_site(site));
        for text in [&mut job.call_stack, &mut job.description, &mut job.group, &mut job.failure] {
            texts.redact_some(text);
        }
    }
    for execution in run.executions.values_mut() {
        texts.redact_site(&mut execution.description);
        texts.redact_shared(&mut execution.details, Redactor::redact);
        texts.redact_some(&mut execution.error);
        execution.modified_configs.values_mut().for_each(|value| texts.redact(value));
        redact_plan(&mut execution.plan, texts);
    }
}

/// Without recursion: plans can be deep.
fn redact_plan(plan: &mut PlanNode, texts: &mut Redactor) {
    let mut open = vec![plan];
    while let Some(node) = open.pop() {
        texts.redact_shared(&mut node.name, Redactor::redact);
        texts.redact(&mut node.text);
        node.metadata.values_mut().for_each(|value| texts.redact(value));
        open.extend(node.children.iter_mut());
    }
}

fn host_name(index: usize) -> String {
    format!("host-{}", index + 1)
}

/// What is replaced by what.
struct Redactor {
    /// Names as they are written → replacements.
    names: HashMap<String, String>,
    /// Any of the names; `None` if there are none.
    any_name: Option<Regex>,
    /// Paths without extension and line → their number.
    paths: HashMap<String, usize>,
}

impl Redactor {
    fn new(run: &Run) -> Self {
        let mut names: HashMap<String, String> = HashMap::new();
        let application = &run.application;
        for (name, replacement) in
            [(&application.id, "application"), (&application.name, "job"), (&application.user, "user")]
        {
            names.extend(name.iter().map(|name| (name.clone(), replacement.to_owned())));
        }
        names.extend(run.hosts.iter().enumerate().map(|(index, host)| (host.clone(), host_name(index))));
        if let Some(driver) = run.conf.get("spark.driver.host") {
            names.entry(driver.clone()).or_insert_with(|| "driver-host".to_owned());
        }
        names.retain(|name, _| !name.trim().is_empty());
        // Of names that begin alike, the longer one is meant.
        let mut longest_first: Vec<&str> = names.keys().map(String::as_str).collect();
        longest_first.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name));
        let alternatives: Vec<String> = longest_first.iter().map(|name| regex::escape(name)).collect();
        let any_name = Regex::new(&alternatives.join("|")).ok().filter(|_| !alternatives.is_empty());
        Self { names, any_name, paths: HashMap::new() }
    }

    fn redact_shared(&mut self, text: &mut Shared, redact: fn(&mut Self, &mut String)) {
        let mut own = text.to_string();
        redact(self, &mut own);
        if *text != own.as_str() {
            *text = own.as_str().into();
        }
    }

    fn redact_some(&mut self, text: &mut Option<String>) {
        text.iter_mut().for_each(|text| self.redact(text));
    }

    /// `collect at /srv/my jobs/orders.py:57`: a path in a call site may hold blanks.
    fn redact_site(&mut self, site: &mut String) {
        match site.split_once(" at ") {
            Some((function, place)) if place.contains(['/', '\\']) && !place.contains('\n') => {
                *site = format!("{function} at {}", self.path(place));
            }
            _ => self.redact(site),
        }
    }

    fn redact(&mut self, text: &mut String) {
        let Some(paths) = path_pattern() else { return };
        let without_paths =
            paths.replace_all(text, |found: &Captures<'_>| format!("{}{}", &found[1], self.path(&found[2])));
        let redacted = match &self.any_name {
            Some(any) => any.replace_all(&without_paths, |found: &Captures<'_>| self.name(&without_paths, found)),
            None => without_paths.clone(),
        };
        if redacted != *text {
            *text = redacted.into_owned();
        }
    }

    /// The replacement of a name, unless it is a part of a longer word.
    fn name(&self, text: &str, found: &Captures<'_>) -> String {
        let Some(whole) = found.get(0) else { return String::new() };
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let inside = text[..whole.start()].chars().next_back().is_some_and(is_part)
            || text[whole.end()..].chars().next().is_some_and(is_part);
        match self.names.get(whole.as_str()) {
            Some(replacement) if !inside => replacement.clone(),
            _ => whole.as_str().to_owned(),
        }
    }

    /// `path-7.py:57`: the extension and the line stay.
    fn path(&mut self, path: &str) -> String {
        let (path, line) = match path.rsplit_once(':') {
            Some((before, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => {
                (before, format!(":{line}"))
            }
            _ => (path, String::new()),
        };
        let path = path.trim_end_matches('.');
        let extension = match path.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')) {
            Some((_, extension))
                if (1..=8).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_lowercase()) =>
            {
                format!(".{extension}")
            }
            _ => String::new(),
        };
        let next = self.paths.len() + 1;
        let number = *self.paths.entry(path.trim_end_matches(['/', '\\']).to_owned()).or_insert(next);
        format!("path-{number}{extension}{line}")
    }
}

/// What stands before a path, and the path: absolute ones, and addresses with a scheme (`s3a://…`, `file:/…`, `jdbc:…`).
fn path_pattern() -> Option<&'static Regex> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r#"(^|[^\w/\\:.])((?:[A-Za-z][\w+.-]*:)*/[^\s,;()\[\]{}<>"'|]+|[A-Za-z]:\\[^\s,;()\[\]{}<>"'|]+)"#;
    PATTERN.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::model::{SqlExecution, Stage, StageKey};

    fn run() -> Run {
        let mut run = Run::default();
        run.application.id = Some("app-20261129-0007".to_owned());
        run.application.name = Some("nightly orders".to_owned());
        run.application.user = Some("ada".to_owned());
        run.hosts = vec!["worker-1.acme.example".to_owned(), "worker-10.acme.example".to_owned()];
        run
    }

    fn redacted(text: &str) -> String {
        let mut text = text.to_owned();
        Redactor::new(&run()).redact(&mut text);
        text
    }

    #[test]
    fn names_are_replaced_as_whole_words() {
        assert_eq!(redacted("nightly orders of ada on worker-10.acme.example"), "job of user on host-2");
        assert_eq!(redacted("adamant columns stay"), "adamant columns stay");
        assert_eq!(redacted("lost worker-1.acme.example: app-20261129-0007"), "lost host-1: application");
    }

    #[test]
    fn paths_and_addresses_are_replaced_and_their_kind_stays() {
        assert_eq!(
            redacted(
                "FileScan parquet [id#1L] Location: InMemoryFileIndex(1 paths)[hdfs://nn:8020/user/ada/orders.parquet]"
            ),
            "FileScan parquet [id#1L] Location: InMemoryFileIndex(1 paths)[path-1.parquet]"
        );
        assert_eq!(redacted("file:/srv/ada/x and /srv/ada/y, then file:/srv/ada/x"), "path-1 and path-2, then path-1");
        assert_eq!(redacted("jdbc:postgresql://ada:secret@db/orders"), "path-1");
        assert_eq!(redacted("12/15 tasks, 3 GiB/s, 2 * price / 7"), "12/15 tasks, 3 GiB/s, 2 * price / 7");
        assert_eq!(redacted(r"D:\jobs\orders.py:57"), "path-1.py:57");
    }

    #[test]
    fn every_text_of_a_run_is_redacted() {
        let mut run = run();
        run.conf.insert("spark.yarn.dist.files".to_owned(), "/srv/ada/keys.json".to_owned());
        let site = "collect at /srv/ada/my jobs/orders.py:57".to_owned();
        let stage = Stage { name: site.as_str().into(), call_site: Some(site.clone()), ..Stage::default() };
        run.stages.insert(StageKey { stage: 0, attempt: 0 }, stage);
        let mut plan = PlanNode { text: "Scan /srv/ada/orders".to_owned(), ..PlanNode::default() };
        plan.children.push(PlanNode { text: "on worker-1.acme.example".to_owned(), ..PlanNode::default() });
        run.executions.insert(0, SqlExecution { description: site, plan, ..SqlExecution::default() });
        redact(&mut run);
        let shown = format!("{run:?}");
        for secret in ["/ada", "acme", "app-2026", "nightly", "my jobs"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        assert!(shown.contains("collect at path-"), "{shown}");
    }
}
