//! Any bytes are read as a log or refused in one sentence.
#![no_main]

use std::io::Write as _;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    match sparkls::eventlog::read(file.path(), &mut |_| true) {
        Ok(run) => {
            let coverage = &run.coverage;
            assert!(!coverage.complete || (coverage.bad_lines == 0 && coverage.cut_at.is_none()));
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
