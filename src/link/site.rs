//! Call sites as Spark logs them, and the paths in them.

use std::path::Path;

/// `collect at /srv/jobs/orders.py:57`: a Python call whose line the log names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PythonSite<'a> {
    /// The outermost PySpark function, e.g. `toPandas`.
    pub(super) function: &'a str,
    /// The path as it was run.
    pub(super) path: &'a str,
    /// Line, from 1.
    pub(super) line: u32,
}

/// The function of a call site of any kind (`count at NativeMethodAccessorImpl.java:0` → `count`).
pub(super) fn function(site: &str) -> Option<&str> {
    let (function, _) = site.split_once(" at ")?;
    (!function.is_empty() && !function.contains(char::is_whitespace)).then_some(function)
}

/// Reads a call site that names a Python line. Paths may hold blanks and colons: split at the first ` at ` and the last `:`.
pub(super) fn python(site: &str) -> Option<PythonSite<'_>> {
    let function = function(site)?;
    let (path, line) = site[function.len() + " at ".len()..].rsplit_once(':')?;
    if !path.ends_with(".py") {
        return None;
    }
    Some(PythonSite { function, path, line: line.trim().parse().ok()? })
}

/// How many trailing components two paths share; 0 when the file names differ.
pub(super) fn common_suffix(logged: &str, path: &Path) -> usize {
    let logged = logged.rsplit(['/', '\\']);
    let ours = path.components().rev().filter_map(|part| part.as_os_str().to_str());
    logged.zip(ours).take_while(|(one, other)| one == other).count()
}

/// The PySpark method behind a name in the log: `show` is logged as `showString`.
pub(super) fn method(function: &str) -> &str {
    match function {
        "showString" => "show",
        "collectToPython" | "collectAsArrowToPython" => "collect",
        other => other,
    }
}

/// Whether a call of `written` in the code may be logged as `method`: without Arrow, `toPandas` collects.
pub(super) fn is_call_of(written: &str, method: &str) -> bool {
    written == method || (written == "toPandas" && method == "collect")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_python_sites_with_blanks_and_colons() {
        let site = python("toPandas at /srv/my jobs: new/daily run.py:12").unwrap();
        assert_eq!(site, PythonSite { function: "toPandas", path: "/srv/my jobs: new/daily run.py", line: 12 });
    }

    #[test]
    fn jvm_sites_name_no_python_line() {
        assert_eq!(python("count at NativeMethodAccessorImpl.java:0"), None);
        assert_eq!(python("count at <unknown>:0"), None);
        assert_eq!(function("count at <unknown>:0"), Some("count"));
        assert_eq!(function("nightly load"), None);
        assert_eq!(function("load customers at night"), None);
    }

    #[test]
    fn paths_are_compared_from_their_ends() {
        let here = Path::new("repo/jobs/orders.py");
        assert_eq!(common_suffix("/srv/app/jobs/orders.py", here), 2);
        assert_eq!(common_suffix("C:\\app\\orders.py", here), 1);
        assert_eq!(common_suffix("/srv/app/jobs/other.py", here), 0);
    }
}
