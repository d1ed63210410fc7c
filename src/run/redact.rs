//! A run that can be shown to others: what it says of its application, hosts, paths and users is replaced.
//!
//! One thing keeps one replacement everywhere (`host-2`, `path-7.parquet`), so that findings still say which was which.
//! Numbers, times, operators, columns and settings stay.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use regex::{Captures, Regex};

use super::model::PlanNode;
use super::{Run, Shared};

/// Replaces the names of the application, its hosts, its user and all paths and addresses, in every text of the run.
pub fn redact(run: &mut Run) {
    Redactor::of(&[run]).run(run);
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

/// Each of these names once, with a replacement that counts them.
fn numbered<'a>(names: impl IntoIterator<Item = &'a str>, kind: &str) -> HashMap<String, String> {
    let mut numbered = HashMap::new();
    for name in names {
        let next = numbered.len() + 1;
        numbered.entry(name.to_owned()).or_insert_with(|| format!("{kind}-{next}"));
    }
    numbered
}

/// Hosts in settings that are no paths: `broker-1.example:9092,broker-2.example:9092`, or a name in a setting for one.
fn hosts_of_settings(run: &Run) -> impl Iterator<Item = &str> {
    let modified = run.executions.values().flat_map(|execution| &execution.modified_configs);
    run.conf.iter().chain(modified).flat_map(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let is_of_host = ["host", "hostname", "address", "endpoint", "servers"].iter().any(|end| key.ends_with(end));
        value.split(',').filter_map(move |item| host(item.trim(), is_of_host))
    })
}

/// The host of `host:port`; of a host alone where it is known to be one.
fn host(item: &str, known: bool) -> Option<&str> {
    let (host, has_port) = match item.rsplit_once(':') {
        Some((host, port)) if (2..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit()) => (host, true),
        _ => (item, false),
    };
    let is_name = host.starts_with(|c: char| c.is_ascii_alphanumeric())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
        && !host.bytes().all(|byte| byte.is_ascii_digit());
    let says_nothing = ["localhost", "0.0.0.0", "true", "false"].contains(&host);
    (is_name && !says_nothing && (known || has_port)).then_some(host)
}

/// Paths with blanks in the call sites of a run, without the line.
fn paths_with_blanks(run: &Run) -> impl Iterator<Item = &str> {
    let stages = run.stages.values().flat_map(|stage| {
        let rdds = stage.rdds.iter().map(|rdd| rdd.call_site.as_str());
        [stage.name.as_str()].into_iter().chain(stage.call_site.as_deref()).chain(rdds)
    });
    let jobs = run.jobs.values().filter_map(|job| job.call_site.as_deref());
    let executions = run.executions.values().map(|execution| execution.description.as_str());
    let places = stages.chain(jobs).chain(executions).filter_map(|site| place(site)).map(|(_, place)| place);
    places.map(|place| path_and_line(place).0).filter(|path| path.contains(char::is_whitespace))
}

/// The function of a call site and its place, where that is a path.
fn place(site: &str) -> Option<(&str, &str)> {
    site.split_once(" at ").filter(|(_, place)| place.contains(['/', '\\']) && !place.contains('\n'))
}

/// A path, and the line behind it with its colon; empty if there is none.
fn path_and_line(path: &str) -> (&str, &str) {
    match path.rfind(':').map(|colon| path.split_at(colon)) {
        Some((path, line)) if line.len() > 1 && line[1..].bytes().all(|byte| byte.is_ascii_digit()) => (path, line),
        _ => (path, ""),
    }
}

/// What is replaced by what: in one run, or alike in several.
#[derive(Debug)]
pub struct Redactor {
    /// Names as they are written → replacements.
    names: HashMap<String, String>,
    /// Any of the names; `None` if there are none.
    any_name: Option<Regex>,
    /// Paths without extension and line → their number.
    paths: HashMap<String, usize>,
    /// Paths of call sites that hold blanks, the longest first: nothing but the call sites says where they end.
    paths_with_blanks: Vec<String>,
}

impl Redactor {
    /// For these runs. What they share has one replacement in all of them.
    pub fn of(runs: &[&Run]) -> Self {
        let mut names: HashMap<String, String> = HashMap::new();
        for application in runs.iter().map(|run| &run.application) {
            for (name, replacement) in
                [(&application.id, "application"), (&application.name, "job"), (&application.user, "user")]
            {
                names.extend(name.iter().map(|name| (name.clone(), replacement.to_owned())));
            }
        }
        let hosts = runs.iter().flat_map(|run| run.hosts.iter().map(String::as_str));
        names.extend(numbered(hosts, "host"));
        for driver in runs.iter().filter_map(|run| run.conf.get("spark.driver.host")) {
            names.entry(driver.clone()).or_insert_with(|| "driver-host".to_owned());
        }
        let others: Vec<&str> =
            runs.iter().flat_map(|run| hosts_of_settings(run)).filter(|host| !names.contains_key(*host)).collect();
        names.extend(numbered(others, "other-host"));
        names.retain(|name, _| !name.trim().is_empty());
        // Of names that begin alike, the longer one is meant.
        let mut longest_first: Vec<&str> = names.keys().map(String::as_str).collect();
        longest_first.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name));
        let alternatives: Vec<String> = longest_first.iter().map(|name| regex::escape(name)).collect();
        let any_name = Regex::new(&alternatives.join("|")).ok().filter(|_| !alternatives.is_empty());
        let paths_with_blanks: BTreeSet<&str> = runs.iter().flat_map(|run| paths_with_blanks(run)).collect();
        let mut paths_with_blanks: Vec<String> = paths_with_blanks.into_iter().map(str::to_owned).collect();
        paths_with_blanks.sort_by_key(|path| std::cmp::Reverse(path.len()));
        Self { names, any_name, paths: HashMap::new(), paths_with_blanks }
    }

    /// Redacts every text of one of the runs.
    pub fn run(&mut self, run: &mut Run) {
        let texts = self;
        let application = &mut run.application;
        for (name, replacement) in [(&mut application.id, "application"), (&mut application.name, "job")] {
            if name.is_some() {
                *name = Some(replacement.to_owned());
            }
        }
        application.user = None;
        application.command = None;
        for host in &mut run.hosts {
            if let Some(name) = texts.names.get(host) {
                host.clone_from(name);
            }
        }
        run.conf.values_mut().for_each(|value| texts.redact(value));
        run.coverage.notes.iter_mut().for_each(|note| texts.redact(note));
        for executor in &mut run.executors {
            texts.redact_some(&mut executor.removed_reason);
        }
        for stage in run.stages.values_mut() {
            texts.redact_shared(&mut stage.name, Self::redact_site);
            texts.redact_shared(&mut stage.details, Self::redact);
            texts.redact_some(&mut stage.failure);
            stage.call_site.iter_mut().for_each(|site| texts.redact_site(site));
            stage.failures.iter_mut().for_each(|failure| texts.redact(&mut failure.message));
            for rdd in &mut stage.rdds {
                texts.redact_shared(&mut rdd.name, Self::redact);
                texts.redact_shared(&mut rdd.call_site, Self::redact_site);
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
            texts.redact_shared(&mut execution.details, Self::redact);
            texts.redact_some(&mut execution.error);
            execution.modified_configs.values_mut().for_each(|value| texts.redact(value));
            redact_plan(&mut execution.plan, texts);
        }
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

    /// Redacts a call site, `collect at /srv/my jobs/orders.py:57`: a path in it may hold blanks.
    pub fn redact_site(&mut self, site: &mut String) {
        match place(site) {
            Some((function, place)) => {
                let mut function = function.to_owned();
                let place = self.path(place);
                self.redact(&mut function);
                *site = format!("{function} at {place}");
            }
            None => self.redact(site),
        }
    }

    /// Redacts any text that was made of the runs.
    pub fn redact(&mut self, text: &mut String) {
        for index in 0..self.paths_with_blanks.len() {
            if text.contains(&self.paths_with_blanks[index]) {
                let path = self.paths_with_blanks[index].clone();
                *text = text.replace(&path, &self.path(&path));
            }
        }
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
        let (path, line) = path_and_line(path);
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

/// A key of a setting without what it names: a bucket, or an account of a store.
pub fn redact_key(key: &str) -> Cow<'_, str> {
    static BUCKET: OnceLock<Option<Regex>> = OnceLock::new();
    static ACCOUNT: OnceLock<Option<Regex>> = OnceLock::new();
    let bucket = BUCKET.get_or_init(|| Regex::new(r"(\bfs\.s3a\.bucket\.)\S+(\.[^.]+)$").ok());
    let account = ACCOUNT.get_or_init(|| Regex::new(r"[\w-]+(\.(?:dfs|blob)\.core\.)").ok());
    match (bucket, account) {
        (Some(bucket), _) if bucket.is_match(key) => bucket.replace(key, "${1}bucket${2}"),
        (_, Some(account)) => account.replace(key, "account${1}"),
        _ => key.into(),
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
        Redactor::of(&[&run()]).redact(&mut text);
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
    fn a_path_with_blanks_is_known_from_its_call_site() {
        let mut run = run();
        let site = "collect at /srv/ada/my jobs/orders.py:57".to_owned();
        run.executions.insert(0, SqlExecution { description: site.clone(), ..SqlExecution::default() });
        let mut text = format!("it failed in {site}: File \"/srv/ada/my jobs/orders.py\", line 57");
        Redactor::of(&[&run]).redact(&mut text);
        assert_eq!(text, "it failed in collect at path-1.py:57: File \"path-1.py\", line 57");
    }

    #[test]
    fn hosts_of_settings_are_replaced_wherever_they_stand() {
        let mut run = run();
        for (key, value) in [
            ("spark.orders.brokers", "broker-1.acme.example:9092, broker-2.acme.example:9092"),
            ("spark.hadoop.fs.s3a.endpoint", "s3.acme.example"),
            ("spark.executor.memory", "4g"),
            ("spark.driver.bindAddress", "0.0.0.0"),
            ("spark.driver.extraJavaOptions", "-Dlevel:10"),
        ] {
            run.conf.insert(key.to_owned(), value.to_owned());
        }
        let mut text = "broker-2.acme.example refused, s3.acme.example:443 and 4g at 0.0.0.0 -Dlevel:10".to_owned();
        Redactor::of(&[&run]).redact(&mut text);
        assert_eq!(text, "other-host-3 refused, other-host-1:443 and 4g at 0.0.0.0 -Dlevel:10");
    }

    #[test]
    fn runs_share_their_replacements() {
        let (mut one, mut other) = (run(), run());
        other.hosts.reverse();
        other.application.user = Some("grace".to_owned());
        let mut redactor = Redactor::of(&[&one, &other]);
        redactor.run(&mut one);
        redactor.run(&mut other);
        assert_eq!(
            (one.hosts, other.hosts),
            (vec!["host-1".into(), "host-2".into()], vec!["host-2".into(), "host-1".into()])
                as (Vec<String>, Vec<String>)
        );
        let mut text = "ada or grace".to_owned();
        redactor.redact(&mut text);
        assert_eq!(text, "user or user");
    }

    #[test]
    fn keys_keep_what_they_are_about() {
        assert_eq!(
            redact_key("spark.hadoop.fs.s3a.bucket.acme-orders.endpoint"),
            "spark.hadoop.fs.s3a.bucket.bucket.endpoint"
        );
        assert_eq!(
            redact_key("fs.azure.account.auth.type.acme.dfs.core.windows.net"),
            "fs.azure.account.auth.type.account.dfs.core.windows.net"
        );
        assert_eq!(redact_key("spark.sql.shuffle.partitions"), "spark.sql.shuffle.partitions");
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
