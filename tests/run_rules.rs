use sparkls::rules::RuleSettings;
use std::path::Path;
#[test]
fn dump() {
    for p in std::env::var("LOGS").unwrap().split(' ') {
        let options = sparkls::cli::report::Options {
            log: Path::new(p).to_owned(),
            all: std::env::var("ALL").is_ok(),
            ..Default::default()
        };
        sparkls::cli::report::run(&options).unwrap();
        if std::env::var("HOVER").is_ok() {
            let run = sparkls::eventlog::read(Path::new(p), &mut |_| true).unwrap();
            for k in run.stages.keys() {
                println!("{}", sparkls::rules::run::stage_details(&run, *k));
            }
            let _ = sparkls::rules::run::verdicts(&run, &RuleSettings::default());
        }
    }
}
