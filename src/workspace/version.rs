//! Which Spark a project uses, from what its files pin.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::VersionSource;
use crate::catalog::SparkVersion;
use crate::text::Span;

/// Larger files are no lists of requirements.
const LARGEST: u64 = 8 << 20;

/// The version that the project's files pin, else the one installed in its environment, else `$SPARK_HOME`.
pub(super) fn detect(root: &Path) -> Option<(SparkVersion, VersionSource)> {
    required(root).or_else(|| installed(root)).or_else(|| spark_home(std::env::var_os("SPARK_HOME")?.as_ref()))
}

/// `pyspark==3.5.1` and its spellings in the files where Python projects pin what they need.
fn required(root: &Path) -> Option<(SparkVersion, VersionSource)> {
    requirement_files(root).into_iter().find_map(|path| {
        let text = read(&path)?;
        let version = pinned(path.file_name()?.to_str()?, &text)?;
        Some((version, VersionSource::Requirement(path)))
    })
}

/// Files that may pin a version, those that resolve it exactly first within their kind.
pub(super) fn requirement_files(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in [root.to_owned(), root.join("requirements")] {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut found: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let wanted = folder != root || name.contains("requirements") || name == "constraints.txt";
                wanted && (name.ends_with(".txt") || name.ends_with(".in"))
            })
            .collect();
        found.sort_by_key(|path| (path.file_name() != Some("requirements.txt".as_ref()), path.clone()));
        files.append(&mut found);
    }
    let others = [
        "pyproject.toml",
        "uv.lock",
        "poetry.lock",
        "pdm.lock",
        "environment.yml",
        "environment.yaml",
        "conda.yml",
        "conda.yaml",
        "Pipfile",
        "Pipfile.lock",
    ];
    files.extend(others.iter().map(|name| root.join(name)));
    files
}

/// `pyspark==3.5.1`, `pyspark[sql] ~= 3.5`, conda's `pyspark=3.5.1`, TOML's `pyspark = "==3.5.1"` and
/// `pyspark = {version = "3.5.1"}`.
static REQUIREMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)(?:^|[\s"',\[])pyspark(?:-client|-connect)?(?:\[[^\]]*\])?\s*
        (?: (?:===?|~=|=)\s* | =\s*(?:\{\s*version\s*=\s*)?["'](?:===?|~=?)?\s* )
        (\d+\.\d+(?:\.\d+)?)"#,
    )
    .ok()
});
static LOCKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"name\s*=\s*"pyspark(?:-client|-connect)?"\s*\r?\n\s*version\s*=\s*"(\d+\.\d+(?:\.\d+)?)"#).ok()
});
static LOCKED_JSON: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?s)"pyspark"\s*:\s*\{[^}]*?"version"\s*:\s*"==(\d+\.\d+(?:\.\d+)?)"#).ok());

/// The version of pyspark that a file of this name pins. A range (`>=3.3`) pins nothing.
fn pinned(name: &str, text: &str) -> Option<SparkVersion> {
    let first = |regex: &LazyLock<Option<Regex>>, group: usize| {
        regex.as_ref()?.captures(text)?.get(group)?.as_str().parse().ok()
    };
    match name {
        "Pipfile.lock" => first(&LOCKED_JSON, 1),
        _ if name.ends_with(".lock") => first(&LOCKED, 1),
        _ => {
            let regex = REQUIREMENT.as_ref()?;
            text.lines().filter(|line| !line.trim_start().starts_with('#')).find_map(|line| {
                let found = regex.captures(line)?;
                found.get(1)?.as_str().parse().ok()
            })
        }
    }
}

/// Where a list of requirements names the version that it pins.
pub fn pinned_at(text: &str) -> Option<Span> {
    let regex = REQUIREMENT.as_ref()?;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#')
            && let Some(version) = regex.captures(line).and_then(|found| found.get(1))
        {
            return Some(Span::new(start + version.start(), start + version.end()));
        }
        start += line.len();
    }
    None
}

/// `spark-version = "3.5"` in a settings file.
static VERSION_SET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?m)^[ \t]*spark-version[ \t]*=[ \t]*["']([^"'\r\n]+)["']"#).ok());

/// Where `sparkls.toml` or `pyproject.toml` sets the version.
pub fn version_set_at(path: &Path, text: &str) -> Option<Span> {
    let name = path.file_name()?;
    let found = VERSION_SET.as_ref()?.captures(text).filter(|_| name == "sparkls.toml" || name == "pyproject.toml")?;
    let version = found.get(1)?;
    Some(Span::new(version.start(), version.end()))
}

/// The pyspark that is installed in the project's virtual environment.
fn installed(root: &Path) -> Option<(SparkVersion, VersionSource)> {
    [".venv", "venv"].iter().map(|name| root.join(name)).find_map(|environment| {
        let version = site_packages(&environment).into_iter().find_map(|folder| {
            std::fs::read_dir(folder).ok()?.filter_map(Result::ok).find_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?.strip_suffix(".dist-info")?;
                name.strip_prefix("pyspark-")?.parse().ok()
            })
        })?;
        Some((version, VersionSource::Installed(environment)))
    })
}

fn site_packages(environment: &Path) -> Vec<PathBuf> {
    let mut folders = vec![environment.join("Lib").join("site-packages")];
    if let Ok(entries) = std::fs::read_dir(environment.join("lib")) {
        folders.extend(entries.filter_map(Result::ok).map(|entry| entry.path().join("site-packages")));
    }
    folders
}

/// The first line of `$SPARK_HOME/RELEASE`: `Spark 3.5.1 (git revision …) built for Hadoop 3.3.4`.
fn spark_home(home: &Path) -> Option<(SparkVersion, VersionSource)> {
    let release = read(&home.join("RELEASE"))?;
    let version = release.split_whitespace().nth(1)?.parse().ok()?;
    Some((version, VersionSource::Installed(home.to_owned())))
}

/// The text of a regular file of ordinary size.
fn read(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= LARGEST).then(|| std::fs::read_to_string(path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// File name, its text, and the version that it pins.
    type Pin = (&'static str, &'static str, Option<(u8, u8, u8)>);
    const PINS: &[Pin] = &[
        ("requirements.txt", "pandas\npyspark==3.5.1\n", Some((3, 5, 1))),
        ("requirements.txt", "pyspark[sql,connect] == 4.0.0 ; python_version > '3.8'", Some((4, 0, 0))),
        ("requirements.txt", "pyspark~=3.4.0", Some((3, 4, 0))),
        ("requirements.txt", "pyspark==3.5.*", Some((3, 5, 0))),
        ("requirements.txt", "pyspark>=3.3", None),
        ("requirements.txt", "# pyspark==3.5.1", None),
        ("requirements.txt", "pyspark-stubs==2.4.0\nmy-pyspark==1.2.3", None),
        ("pyproject.toml", "dependencies = [\n  \"pyspark==3.3.2\",\n]", Some((3, 3, 2))),
        ("pyproject.toml", "dependencies = [\"pandas\", 'pyspark==3.3.2']", Some((3, 3, 2))),
        ("pyproject.toml", "pyspark = \"3.2.1\"", Some((3, 2, 1))),
        ("pyproject.toml", "pyspark = {version = \"3.2.1\", extras = [\"sql\"]}", Some((3, 2, 1))),
        ("pyproject.toml", "pyspark = \"^3.2.1\"", None),
        ("pyproject.toml", "pyspark = \">=3.2\"", None),
        ("uv.lock", "[[package]]\nname = \"pyspark\"\nversion = \"3.5.3\"\n", Some((3, 5, 3))),
        ("poetry.lock", "[[package]]\nname = \"pyspark-extension\"\nversion = \"2.1.0\"\n", None),
        ("environment.yml", "dependencies:\n  - pyspark=3.4.1\n", Some((3, 4, 1))),
        ("environment.yml", "  - pip:\n    - pyspark==3.4.1\n", Some((3, 4, 1))),
        ("Pipfile", "pyspark = \"==3.1.3\"", Some((3, 1, 3))),
        ("Pipfile", "pyspark = \"*\"", None),
        (
            "Pipfile.lock",
            "{\"default\": {\"pyspark\": {\"hashes\": [\"x\"], \"version\": \"==3.5.0\"}}}",
            Some((3, 5, 0)),
        ),
    ];

    #[test]
    fn pins_are_read_and_ranges_are_not() {
        for (name, text, expected) in PINS {
            let expected = expected.map(|(major, minor, patch)| SparkVersion::new(major, minor, patch));
            assert_eq!(pinned(name, text), expected, "{name}: {text}");
        }
    }

    #[test]
    fn an_environment_tells_what_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        let packages = folder.path().join(".venv/lib/python3.11/site-packages/pyspark-3.5.4.dist-info");
        std::fs::create_dir_all(packages).unwrap();
        let (version, source) = detect(folder.path()).unwrap();
        assert_eq!(version, SparkVersion::new(3, 5, 4));
        assert_eq!(source, VersionSource::Installed(folder.path().join(".venv")));
    }

    #[test]
    fn a_release_file_names_its_version() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("RELEASE"), "Spark 3.4.2 (git revision 0) built for Hadoop 3.3.4\n").unwrap();
        assert_eq!(spark_home(folder.path()).unwrap().0, SparkVersion::new(3, 4, 2));
    }
}
