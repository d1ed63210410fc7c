//! A task's line that is scanned says what the same line says that is parsed.
#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    assert!(sparkls::eventlog::scan_agrees_with_parse(line));
});
