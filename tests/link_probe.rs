//! probe
use sparkls::{eventlog, link, pyspark::PythonFile};
use std::path::Path;
use std::sync::Arc;
#[test]
fn probe() {
    let job = std::env::var("JOB").unwrap();
    let log = std::env::var("LOG").unwrap();
    let text: Arc<str> = std::fs::read_to_string(&job).unwrap().into();
    let run = eventlog::read(Path::new(&log), &mut |_| true).unwrap();
    let file = PythonFile::parse(&text);
    let plan = file.plan();
    let links = link::link(&run, plan, &text, Path::new(&job));
    let line = |o: u32| text[..o as usize].matches('\n').count() + 1;
    for l in &links.links {
        println!("{:?} -> {}:{} {:?} {}", l.measured, line(l.span.start), l.span.of(&text), l.certainty, l.reason);
    }
    for (m, why) in &links.unlinked {
        println!("UNLINKED {m:?} {why}");
    }
    println!("executions {} stages {}", run.executions.len(), run.stages.len());
    for (id, e) in &run.executions {
        println!("  exec {id} {} start={} root={:?}", e.description, e.start, e.root);
    }
}
