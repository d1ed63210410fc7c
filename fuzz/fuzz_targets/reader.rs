//! Any bytes are read as a log or refused in one sentence.
#![no_main]

use std::cell::RefCell;
use std::io::{Seek as _, SeekFrom, Write as _};

use tempfile::NamedTempFile;

thread_local! {
    /// One file for all inputs: making one takes longer than reading most of them.
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file"));
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    FILE.with_borrow_mut(|file| {
        file.as_file().set_len(0).expect("it can be emptied");
        file.seek(SeekFrom::Start(0)).expect("it has a start");
        file.write_all(bytes).expect("room for it");
        match sparkls::eventlog::read(file.path(), &mut |_| true) {
            Ok(run) => {
                let coverage = &run.coverage;
                assert!(!coverage.complete || (coverage.bad_lines == 0 && coverage.cut_at.is_none()));
            }
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    });
});
