//! Which line each SQL execution, job and stage of a real run is linked to.
//!
//! A case is a folder under `tests/links`: `job.py`, `log` (the log's path from there) and `links.txt`, one line for each
//! measured thing: `execution 3 -> 17 collect (exact)`, or `execution 3 -> none`. `SPARKLS_BLESS=1` writes `links.txt`
//! anew; read what it wrote against the job before you commit it: a wrong line is worse than none.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sparkls::eventlog;
use sparkls::link::{self, Certainty, Link, Measured};
use sparkls::pyspark::PythonFile;
use sparkls::run::Run;

#[test]
fn runs_are_linked_as_written() {
    let mut wrong = Vec::new();
    for case in cases() {
        let links = describe(&case);
        let expected = case.join("links.txt");
        if std::env::var_os("SPARKLS_BLESS").is_some() {
            std::fs::write(&expected, &links).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != links {
            wrong.push(format!("{}:\n{links}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "not as in links.txt:\n{}", wrong.join("\n"));
}

#[test]
fn a_run_of_another_job_has_no_links() {
    let folder = Path::new("tests/links");
    let (_, run) = read_run(&folder.join("rdd_api"));
    let text: Arc<str> = std::fs::read_to_string(folder.join("spill/job.py")).unwrap().into();
    let links = link::link(&run, PythonFile::parse(&text).plan(), &text, Path::new("jobs/other.py"));
    assert_eq!(links, link::Links::default());
}

#[test]
fn a_file_that_changed_is_never_painted_by_exact_lines() {
    let folder = Path::new("tests/links/rdd_api");
    let (_, run) = read_run(folder);
    let old = std::fs::read_to_string(folder.join("job.py")).unwrap();
    let text: Arc<str> = old.replace("counts.collect()", "1").replace("ordered.take(2)", "2").into();
    let links = link::link(&run, PythonFile::parse(&text).plan(), &text, Path::new("job.py"));
    let line_of = |link: &Link| text[..link.span.start as usize].matches('\n').count() + 1;
    assert!(links.links.iter().any(|link| link.certainty == Certainty::Exact));
    for link in links.links.iter().filter(|link| link.certainty == Certainty::Exact) {
        assert!(![9, 11].contains(&line_of(link)), "line {} has no action any more", line_of(link));
    }
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = std::fs::read_dir("tests/links")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() >= 10);
    cases
}

fn read_run(case: &Path) -> (String, Run) {
    let log = std::fs::read_to_string(case.join("log")).unwrap();
    let run = eventlog::read(&case.join(log.trim()), &mut |_| true).unwrap();
    (log, run)
}

fn describe(case: &Path) -> String {
    let (_, run) = read_run(case);
    let text: Arc<str> = std::fs::read_to_string(case.join("job.py")).unwrap().into();
    let file = PythonFile::parse(&text);
    let links = link::link(&run, file.plan(), &text, &case.join("job.py"));
    let mut lines = String::new();
    let executions = run.executions.keys().map(|&id| (format!("execution {id}"), Measured::Execution(id)));
    let jobs = run.jobs.iter().filter(|(_, job)| job.execution.is_none());
    let jobs = jobs.map(|(&id, _)| (format!("job {id}"), Measured::Job(id)));
    let stages = run.stages.keys().map(|&key| (format!("stage {}.{}", key.stage, key.attempt), Measured::Stage(key)));
    for (name, measured) in executions.chain(jobs).chain(stages) {
        match links.best(measured).filter(|link| link.certainty >= Certainty::Likely) {
            Some(link) => {
                let line = text[..link.span.start as usize].matches('\n').count() + 1;
                let certainty = format!("{:?}", link.certainty).to_lowercase();
                writeln!(lines, "{name} -> {line} {} ({certainty})", link.span.of(&text)).unwrap();
            }
            None => writeln!(lines, "{name} -> none").unwrap(),
        }
    }
    lines
}
