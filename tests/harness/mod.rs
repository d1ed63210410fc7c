//! Reads the fixtures of `tests/rules/` and the examples in the rules' documentation, and holds the analysis against them.
//! The format is described in `tests/rules/README.md`.

pub(crate) mod case;
pub(crate) mod check;
pub(crate) mod docs;
pub(crate) mod fixes;
pub(crate) mod markdown;
pub(crate) mod marker;

use std::fs;
use std::path::Path;

use case::Case;

/// All fixtures, or those whose file name contains `$SPARKLS_FIXTURE`.
pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let wanted = std::env::var("SPARKLS_FIXTURE").unwrap_or_default();
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("tests/rules is there")
        .map(|entry| entry.expect("tests/rules can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter(|path| path.file_name().is_some_and(|name| name != "README.md"))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            case::read(&name, &fs::read_to_string(path).expect("a fixture is UTF-8"))
        })
        .collect()
}

/// Fails with all complaints at once.
pub(crate) fn expect_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n{} complaint(s)", complaints.join("\n\n"), complaints.len());
}
