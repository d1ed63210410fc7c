//! Which reader a document needs, and whether it can hold settings at all; both without a parse.

use std::path::Path;

use memchr::memmem;

/// The formats that are read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CarrierKind {
    Shell,
    Makefile,
    Dockerfile,
    Yaml,
    Json,
    /// A Jupyter notebook, for its `%%configure` cells.
    Notebook,
    /// Terraform and other HCL.
    Hcl,
    Hocon,
}

/// Endings of templates, behind the ending of what they become.
const TEMPLATE_ENDINGS: [&str; 10] =
    [".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".tftpl", ".template", ".erb", ".gotmpl", ".in"];

/// Which reader a document needs, by what its editor calls it, its name, or its first lines; `None` if it is none of
/// the carriers that are read here. `head` is the beginning of the text, some hundred bytes of it are enough.
pub fn kind_of(path: &Path, head: &str, language_id: Option<&str>) -> Option<CarrierKind> {
    language_id.and_then(by_language).or_else(|| by_name(path, head)).or_else(|| by_shebang(head))
}

fn by_language(language: &str) -> Option<CarrierKind> {
    Some(match language {
        "shellscript" | "sh" | "bash" | "zsh" | "ksh" => CarrierKind::Shell,
        "makefile" | "make" => CarrierKind::Makefile,
        "dockerfile" | "containerfile" => CarrierKind::Dockerfile,
        "yaml" | "dockercompose" | "github-actions-workflow" | "helm" => CarrierKind::Yaml,
        "json" | "jsonc" => CarrierKind::Json,
        "jupyter" | "ipynb" => CarrierKind::Notebook,
        "terraform" | "hcl" | "terraform-vars" | "opentofu" => CarrierKind::Hcl,
        "hocon" => CarrierKind::Hocon,
        _ => return None,
    })
}

fn by_name(path: &Path, head: &str) -> Option<CarrierKind> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = TEMPLATE_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    Some(match ending {
        "sh" | "bash" | "zsh" | "ksh" => CarrierKind::Shell,
        "mk" | "mak" => CarrierKind::Makefile,
        "dockerfile" | "containerfile" => CarrierKind::Dockerfile,
        "yaml" | "yml" => CarrierKind::Yaml,
        "json" | "jsonc" => CarrierKind::Json,
        "ipynb" => CarrierKind::Notebook,
        "tf" | "hcl" | "tfvars" | "tofu" => CarrierKind::Hcl,
        "hocon" => CarrierKind::Hocon,
        "conf" if matches!(stem, "application" | "reference") || opens_a_block(head) => CarrierKind::Hocon,
        _ if matches!(stem, "dockerfile" | "containerfile") => CarrierKind::Dockerfile,
        _ if matches!(name, "makefile" | "gnumakefile") => CarrierKind::Makefile,
        _ => return None,
    })
}

/// Whether a line opens a block or includes a file, as only HOCON does.
fn opens_a_block(head: &str) -> bool {
    head.lines().map(str::trim_end).filter(|line| !line.trim_start().starts_with(['#', '/'])).any(|line| {
        let opened = line.strip_suffix('{').map(|before| before.trim_end_matches([' ', '=', ':']).trim_start());
        let is_path = |path: &str| {
            !path.is_empty()
                && path.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'"'))
        };
        opened.is_some_and(is_path) || line.trim_start().starts_with("include \"")
    })
}

fn by_shebang(head: &str) -> Option<CarrierKind> {
    let program = head.strip_prefix("#!")?.lines().next()?;
    let mut words = program.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    let shell = |word: &str| matches!(word, "sh" | "bash" | "zsh" | "ksh" | "dash");
    words.any(shell).then_some(CarrierKind::Shell)
}

/// Whether a text can hold a setting of Spark: a byte scan, so that other texts are never parsed.
pub fn may_hold_settings(text: &str) -> bool {
    let bytes = text.as_bytes();
    let names_spark = ["spark", "Spark", "SPARK"].iter().any(|name| memmem::find(bytes, name.as_bytes()).is_some());
    (names_spark || memmem::find(bytes, b"%%configure").is_some()) && !is_event_log(text)
}

/// An event log is JSON line by line and full of settings; they are facts of a run, not text to edit.
fn is_event_log(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').starts_with("{\"Event\":\"SparkListener")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_lines_tell_the_kind() {
        use CarrierKind::*;
        for (path, head, kind) in [
            ("jobs/run.sh", "", Some(Shell)),
            ("run", "#!/usr/bin/env bash\n", Some(Shell)),
            ("run", "#!/usr/bin/env python3\n", None),
            ("Makefile", "", Some(Makefile)),
            ("build/common.mk", "", Some(Makefile)),
            ("Dockerfile", "", Some(Dockerfile)),
            ("Dockerfile.spark", "", Some(Dockerfile)),
            ("spark.dockerfile", "", Some(Dockerfile)),
            ("chart/templates/app.yaml", "", Some(Yaml)),
            ("app.yaml.j2", "", Some(Yaml)),
            ("emr.json.tftpl", "", Some(Json)),
            ("nb.ipynb", "", Some(Notebook)),
            ("main.tf", "", Some(Hcl)),
            ("conf/application.conf", "", Some(Hocon)),
            ("conf/job.conf", "# c\nspark {\n", Some(Hocon)),
            ("conf/job.conf", "include \"base.conf\"\n", Some(Hocon)),
            ("conf/spark-defaults.conf", "spark.executor.memory 4g\n", None),
            ("spark-defaults.conf.j2", "{% if x %}\nspark.executor.memory {{ m }}\n", None),
            ("nginx.conf", "", None),
            ("job.py", "", None),
        ] {
            assert_eq!(kind_of(Path::new(path), head, None), kind, "{path}");
        }
        assert_eq!(kind_of(Path::new("x"), "", Some("shellscript")), Some(Shell));
        assert_eq!(kind_of(Path::new("x.yaml"), "", Some("helm")), Some(Yaml));
        assert_eq!(kind_of(Path::new("x.yaml"), "", Some("plaintext")), Some(Yaml));
    }

    #[test]
    fn texts_without_spark_are_told_apart() {
        assert!(may_hold_settings("sparkConf: {}") && may_hold_settings("PYSPARK_SUBMIT_ARGS=x"));
        assert!(!may_hold_settings("apiVersion: v1\nkind: ConfigMap\n"));
        assert!(!may_hold_settings("{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.0.0\"}\n"));
    }
}
