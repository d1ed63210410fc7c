//! Where in a script, a manifest or a template the cursor stands.
//!
//! Inside a setting that is written already, what was read of the document tells. Elsewhere the document is read again
//! with a setting of our own in place of the word at the cursor, completed in each way that an entry can be written in:
//! where it comes back as a setting at exactly this place, a setting can stand there. So every format, and every format
//! inside another, is known by its own reader.

use super::place::{Place, Spot};
use crate::conf::carriers::{CarrierKind, Extract, extract, may_hold_settings};
use crate::conf::{Carrier, Setting};
use crate::text::Span;

/// A key that any map of settings takes, and that no other map is taken for one for its sake.
const ANY_KEY: &str = "sparkls.probe";
/// A key that stands for a setting wherever it is.
const SPARK_KEY: &str = "spark.sparkls.probe";
/// A value that no setting has.
const VALUE: &str = "sparkls-probe";
/// A longer text is not read again and again for what is typed into it.
const LONGEST: usize = 256 << 10;

/// What is being typed at an offset of a document, of which `read` was read as it stands.
pub(super) fn spot(kind: CarrierKind, text: &str, read: &[Setting], offset: usize) -> Option<Spot> {
    if let Some(setting) = read.iter().find(|setting| setting.value_span.touches(offset)) {
        return in_value(setting, text, offset);
    }
    if let Some(setting) = read.iter().find(|setting| setting.key_span.touches(offset)) {
        return in_key(kind, setting, text, offset);
    }
    if text.len() > LONGEST || !may_hold_settings(text) {
        return None;
    }
    let probe = Probe { kind, text, word: word(text, offset), offset };
    probe.value().or_else(|| probe.key()).or_else(|| probe.flag())
}

fn in_value(setting: &Setting, text: &str, offset: usize) -> Option<Spot> {
    let typed = text.get(setting.value_span.start as usize..offset)?;
    if typed.contains(['\n', '\r']) {
        return None;
    }
    let mut spot = Place::Value { key: setting.key.clone(), typed: typed.to_owned() }.at(text, offset)?;
    spot.span.end = spot.span.end.min(setting.value_span.end);
    Some(spot)
}

fn in_key(kind: CarrierKind, setting: &Setting, text: &str, offset: usize) -> Option<Spot> {
    let typed = text.get(setting.key_span.start as usize..offset)?.to_owned();
    // A name of its own stands for a key and ends none: a flag has others to offer, a field has not.
    let under = setting.key.strip_suffix(setting.key_span.of(text));
    let (place, under) = match under.filter(|under| under.is_empty() || kind == CarrierKind::Hocon) {
        Some(under) => (Place::Key(typed), under.to_owned()),
        None if setting.carrier == Carrier::SubmitFlag => (Place::Flag(typed), String::new()),
        None => return None,
    };
    Some(Spot { place, span: setting.key_span, needs_quotes: false, under })
}

/// The word around an offset, as keys and flags are spelled.
fn word(text: &str, offset: usize) -> Span {
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let (before, behind) = text.as_bytes().split_at(offset.min(text.len()));
    let start = before.len() - before.iter().rev().take_while(belongs).count();
    Span::new(start, before.len() + behind.iter().take_while(belongs).count())
}

/// A way to complete an entry around a key.
struct Form {
    /// What is put before the key, or before the quote that it stands behind.
    before: &'static str,
    /// What is put behind the key.
    behind: String,
    /// How much of what stands behind the word is replaced.
    skipped: usize,
    /// The key has quotes of the form's own.
    quoted: bool,
}

/// A text, and the word in it that is tried.
struct Probe<'t> {
    kind: CarrierKind,
    text: &'t str,
    word: Span,
    offset: usize,
}

impl Probe<'_> {
    fn typed(&self) -> &str {
        self.text.get(self.word.start as usize..self.offset).unwrap_or_default()
    }

    fn before(&self) -> &str {
        &self.text[..self.word.start as usize]
    }

    fn behind(&self) -> &str {
        &self.text[self.word.end as usize..]
    }

    fn spot(&self, place: Place, needs_quotes: bool) -> Spot {
        Spot { place, span: self.word, needs_quotes, under: String::new() }
    }

    /// Whether a key can stand here.
    fn key(&self) -> Option<Spot> {
        if self.typed().starts_with('-') {
            return None;
        }
        let (quoted, under) = self.forms().into_iter().find_map(|form| Some((form.quoted, self.takes_key(&form)?)))?;
        Some(Spot { under, ..self.spot(Place::Key(self.typed().to_owned()), quoted) })
    }

    /// Whether a key can stand here in this form, and what the blocks around put before it. Any map takes a key of
    /// Spark; where nothing of one is typed, only a map of settings is meant.
    fn takes_key(&self, form: &Form) -> Option<String> {
        let is_begun = self.typed().len() >= 2 && self.typed().starts_with("sp");
        let own = self.read_with(form, SPARK_KEY);
        if let Some((extract, index)) = own.filter(|(extract, index)| is_begun || is_among_others(extract, *index)) {
            return under(&extract, index, SPARK_KEY);
        }
        let (extract, index) = self.read_with(form, ANY_KEY)?;
        under(&extract, index, ANY_KEY)
    }

    /// What is read with this key in this form, and the key's setting, if it comes back where it was put.
    fn read_with(&self, form: &Form, key: &str) -> Option<(Extract, usize)> {
        let quote = self.quote().map_or(0, str::len);
        let (before, quote) = self.before().split_at(self.before().len() - quote);
        let behind = self.behind().get(form.skipped..)?;
        let own_quote = if form.quoted { "\"" } else { "" };
        let start = before.len() + form.before.len() + quote.len() + own_quote.len();
        let text = [before, form.before, quote, own_quote, key, own_quote, &form.behind, behind].concat();
        let extract = extract(self.kind, &text);
        let place = Span::new(start, start + key.len());
        let index = extract.settings.iter().position(|setting| setting.key_span == place)?;
        Some((extract, index))
    }

    /// The quote that the word stands behind.
    fn quote(&self) -> Option<&'static str> {
        ["\\\"", "\"", "'"].into_iter().find(|quote| self.before().ends_with(quote))
    }

    /// The ways in which an entry can be written here.
    fn forms(&self) -> Vec<Form> {
        let form = |behind: &str| Form { before: "", behind: behind.to_owned(), skipped: 0, quoted: false };
        let Some(quote) = self.quote() else {
            return match self.kind {
                CarrierKind::Json => vec![Form { quoted: true, ..self.json_entry("", "\"") }, form("=x")],
                CarrierKind::Hcl => vec![Form { quoted: true, ..form(" = \"x\"") }, form("=x")],
                CarrierKind::Yaml => vec![form(": x"), form("=x")],
                _ => vec![form("=x"), form(": x")],
            };
        };
        let closing = if self.behind().starts_with(quote) { quote } else { "" };
        if self.behind()[closing.len()..].trim_start_matches([' ', '\t']).starts_with([':', '=']) {
            return vec![form(""), form("=x")];
        }
        let closed = |behind: String| Form { skipped: closing.len(), ..form(&behind) };
        let own = match self.kind {
            CarrierKind::Yaml => Some(closed(format!("{quote}: x"))),
            CarrierKind::Hcl | CarrierKind::Hocon => Some(closed(format!("{quote} = \"x\""))),
            _ => None,
        };
        own.into_iter().chain([self.json_entry(closing, quote), form("=x")]).collect()
    }

    /// An entry of JSON with the commas that it needs, its value in these quotes; `closing` ends the key already.
    fn json_entry(&self, closing: &str, quote: &str) -> Form {
        let behind = &self.behind()[closing.len()..];
        let behind = behind.trim_start_matches(|c: char| c.is_whitespace()).trim_start_matches("\\n").trim_start();
        let is_last = behind.is_empty() || behind.starts_with([',', '}', ']']);
        let before = self.before().strip_suffix(self.quote().unwrap_or_default()).unwrap_or(self.before());
        let before = before.trim_end().trim_end_matches("\\n").trim_end();
        let is_first = before.ends_with(['{', ',', '[']);
        let key_end = if self.quote().is_some() { quote } else { "" };
        Form {
            before: if is_first { "" } else { "," },
            behind: format!("{key_end}: {quote}x{quote}{}", if is_last { "" } else { "," }),
            skipped: closing.len(),
            quoted: false,
        }
    }

    /// Whether the value of a key can stand here.
    fn value(&self) -> Option<Spot> {
        let wants_quotes = matches!(self.kind, CarrierKind::Json | CarrierKind::Hcl) && self.quote().is_none();
        for quote in ["", "\""].into_iter().take(1 + usize::from(wants_quotes)) {
            let start = self.before().len() + quote.len();
            let text = [self.before(), quote, VALUE, quote, self.behind()].concat();
            let found = extract(self.kind, &text)
                .settings
                .into_iter()
                .find(|setting| setting.value_span.start as usize == start && setting.value.literal() == Some(VALUE));
            if let Some(setting) = found {
                let place = Place::Value { key: setting.key, typed: self.typed().to_owned() };
                return Some(self.spot(place, !quote.is_empty()));
            }
        }
        None
    }

    /// Whether an option of spark-submit can stand here.
    fn flag(&self) -> Option<Spot> {
        let begins = self.typed().is_empty() && self.before().ends_with([' ', '\t', '"', '\'']);
        if !begins && !self.typed().starts_with('-') {
            return None;
        }
        let option = "--conf=";
        let text = [self.before(), option, SPARK_KEY, "=x", self.behind()].concat();
        let start = self.before().len() + option.len();
        let place = Span::new(start, start + SPARK_KEY.len());
        let comes_back = extract(self.kind, &text).settings.iter().any(|setting| setting.key_span == place);
        comes_back.then(|| self.spot(Place::Flag(self.typed().to_owned()), false))
    }
}

/// What stands before a key that was written as `written`.
fn under(extract: &Extract, index: usize, written: &str) -> Option<String> {
    extract.settings.get(index)?.key.strip_suffix(written).map(str::to_owned)
}

/// Whether a setting stands in a map with others, or belongs to a job.
fn is_among_others(extract: &Extract, index: usize) -> bool {
    extract.groups.iter().any(|group| group.len() > 1 && group.contains(&index))
        || extract.submits.iter().any(|submit| submit.settings.contains(&index))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is typed at `│`: `key`, `value of KEY` or `flag`, behind it what an answer replaces, in quotes where it
    /// needs them.
    fn at(kind: CarrierKind, marked: &str) -> String {
        let offset = marked.find('│').unwrap();
        let text = marked.replace('│', "");
        let read = extract(kind, &text);
        let Some(Spot { place, span, needs_quotes, under }) = spot(kind, &text, &read.settings, offset) else {
            return "nothing".to_owned();
        };
        assert_eq!(place.typed(), &text[span.start as usize..offset], "{marked}");
        let what = match place {
            Place::Key(_) => "key".to_owned(),
            Place::Value { key, .. } => format!("value of {key}"),
            Place::Flag(_) => "flag".to_owned(),
        };
        let quote = if needs_quotes { "\"" } else { "" };
        let under = if under.is_empty() { String::new() } else { format!(" under {under}") };
        format!("{what} {quote}[{}]{quote}{under}", span.of(&text))
    }

    #[test]
    fn shell() {
        let at = |text: &str| at(CarrierKind::Shell, text);
        assert_eq!(at("spark-submit --conf spark.ex│ job.py\n"), "key [spark.ex]");
        assert_eq!(at("spark-submit --conf │ job.py\n"), "key []");
        assert_eq!(at("spark-submit \\\n  --conf \"spark.ex│\" \\\n  job.py\n"), "key [spark.ex]");
        assert_eq!(at("spark-submit --conf spark.ex│ecutor.cores=4 job.py\n"), "key [spark.executor.cores]");
        assert_eq!(at("spark-submit --conf spark.executor.cores=│ job.py\n"), "value of spark.executor.cores []");
        assert_eq!(
            at("spark-submit --conf spark.sql.ansi.enabled=tr│ job.py\n"),
            "value of spark.sql.ansi.enabled [tr]"
        );
        assert_eq!(at("spark-submit --executor-memory │ job.py\n"), "value of spark.executor.memory []");
        assert_eq!(at("spark-submit --executor-mem│ job.py\n"), "flag [--executor-mem]");
        assert_eq!(at("spark-submit --executor-mem│ory 4g job.py\n"), "flag [--executor-memory]");
        assert_eq!(at("spark-submit │\n"), "flag []");
        assert_eq!(at("spark-submit job.py --da│\n"), "nothing");
        assert_eq!(at("ARGS=(\n  --conf spark.ex│\n)\nspark-submit \"${ARGS[@]}\" job.py\n"), "key [spark.ex]");
        assert_eq!(at("# spark\necho spark.ex│\n"), "nothing");
        assert_eq!(at("# spark\n│\n"), "nothing");
    }

    #[test]
    fn make_and_docker() {
        assert_eq!(at(CarrierKind::Makefile, "run:\n\tspark-submit --conf spark.ex│ job.py\n"), "key [spark.ex]");
        assert_eq!(
            at(CarrierKind::Dockerfile, "FROM x\nCMD [\"spark-submit\", \"--conf\", \"spark.ex│\", \"job.py\"]\n"),
            "key [spark.ex]"
        );
        assert_eq!(at(CarrierKind::Dockerfile, "FROM x\nRUN spark-submit --num-│ job.py\n"), "flag [--num-]");
    }

    #[test]
    fn yaml() {
        let at = |text: &str| at(CarrierKind::Yaml, text);
        let application = "kind: SparkApplication\nspec:\n  sparkConf:\n    spark.executor.cores: \"4\"\n";
        assert_eq!(at(&format!("{application}    spark.ex│\n")), "key [spark.ex]");
        assert_eq!(at(&format!("{application}    │\n")), "key []");
        assert_eq!(at(&format!("{application}    exec│\n")), "key [exec]");
        assert_eq!(at(&format!("{application}    \"spark.ex│\"\n")), "key [spark.ex]");
        assert_eq!(at("sparkConf:\n  │\n"), "key []");
        assert_eq!(at("sparkConf:\n  spark.ex│\n  spark.executor.cores: 4\n"), "key [spark.ex]");
        assert_eq!(at("sparkConf:\n  spark.sql.ansi.enabled: │\n"), "value of spark.sql.ansi.enabled []");
        assert_eq!(at("sparkConf:\n  spark.sql.ansi.enabled: \"│\"\n"), "value of spark.sql.ansi.enabled []");
        assert_eq!(at("sparkConf:\n  spark.sql.ansi.enabled: fa│lse\n"), "value of spark.sql.ansi.enabled [false]");
        assert_eq!(at("kind: SparkApplication\nspec:\n  executor:\n    mem│ory: 4g\n"), "nothing");
        assert_eq!(at("metadata:\n  name: spark\n  │\n"), "nothing");
        assert_eq!(at("metadata:\n  name: spark│\n"), "nothing");
        assert_eq!(at("script:\n  - spark-submit --conf spark.ex│ job.py\n"), "key [spark.ex]");
        assert_eq!(at("command:\n  - spark-submit\n  - --conf\n  - spark.ex│\n  - job.py\n"), "key [spark.ex]");
        assert_eq!(at("run: |\n  spark-submit \\\n    --executor-c│ \\\n    job.py\n"), "flag [--executor-c]");
    }

    #[test]
    fn json() {
        let at = |text: &str| at(CarrierKind::Json, text);
        assert_eq!(at(r#"{"conf": {"spark.ex│"}}"#), "key [spark.ex]");
        assert_eq!(at("{\"conf\": {\n  \"spark.ex│\n}}"), "key [spark.ex]");
        assert_eq!(at("{\"file\": \"a.py\", \"conf\": {\n  \"spark.a\": \"b\",\n  \"│\"\n}}"), "key []");
        assert_eq!(at("{\"file\": \"a.py\", \"conf\": {\n  \"spark.a\": \"b\"\n  \"spark.ex│\"\n}}"), "key [spark.ex]");
        assert_eq!(at("{\"file\": \"a.py\", \"conf\": {\n  \"spark.ex│\"\n  \"spark.a\": \"b\"\n}}"), "key [spark.ex]");
        assert_eq!(at("{\"file\": \"a.py\", \"conf\": {\n  \"spark.a\": \"b\",\n  │\n}}"), "key \"[]\"");
        assert_eq!(at(r#"{"conf": {"spark.sql.ansi.enabled": "│"}}"#), "value of spark.sql.ansi.enabled []");
        assert_eq!(at(r#"{"conf": {"spark.sql.ansi.enabled": │}}"#), "value of spark.sql.ansi.enabled \"[]\"");
        assert_eq!(at(r#"{"args": ["spark-submit", "--conf", "spark.ex│", "a.py"]}"#), "key [spark.ex]");
        assert_eq!(at(r#"{"sparkSubmitParameters": "--conf spark.ex│"}"#), "key [spark.ex]");
        assert_eq!(at(r#"{"name": "spark", "│": 1}"#), "nothing");
    }

    #[test]
    fn terraform_and_hocon() {
        let hcl = |text: &str| at(CarrierKind::Hcl, text);
        let cluster =
            "resource \"databricks_cluster\" \"x\" {\n  spark_conf = {\n    \"spark.executor.cores\" = \"4\"\n";
        assert_eq!(hcl(&format!("{cluster}    \"spark.ex│\"\n  }}\n}}\n")), "key [spark.ex]");
        assert_eq!(hcl(&format!("{cluster}    │\n  }}\n}}\n")), "key \"[]\"");
        assert_eq!(
            hcl(&format!("{cluster}    \"spark.sql.ansi.enabled\" = \"│\"\n  }}\n}}\n")),
            "value of spark.sql.ansi.enabled []"
        );
        let hocon = |text: &str| at(CarrierKind::Hocon, text);
        assert_eq!(hocon("spark.executor.cores = 4\nspark.ex│\n"), "key [spark.ex]");
        assert_eq!(
            hocon("spark {\n  executor {\n    cores = 4\n    mem│\n  }\n}\n"),
            "key [mem] under spark.executor."
        );
        assert_eq!(hocon("spark {\n  exec│utor.cores = 4\n}\n"), "key [executor.cores] under spark.");
        assert_eq!(hocon("spark.sql.ansi.enabled = │\n"), "value of spark.sql.ansi.enabled []");
    }

    #[test]
    fn notebook() {
        let notebook = |line: &str| {
            let cell = format!("%%configure -f\\n\", \"{{{line}}}");
            let text = format!(
                "{{\"cells\": [{{\"cell_type\": \"code\", \"source\": [\"{cell}\"]}}], \"metadata\": {{}}, \"nbformat\": 4}}"
            );
            at(CarrierKind::Notebook, &text)
        };
        assert_eq!(notebook(r#"\"conf\": {\"spark.ex│\"}"#), "key [spark.ex]");
        assert_eq!(notebook(r#"\"conf\": {\"spark.sql.ansi.enabled\": \"│\"}"#), "value of spark.sql.ansi.enabled []");
    }

    #[test]
    fn every_place_of_every_format_has_an_answer() {
        use crate::conf::carriers::kind_of;
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/carriers");
        let files =
            std::fs::read_dir(folder).unwrap().flat_map(|case| std::fs::read_dir(case.unwrap().path()).unwrap());
        let mut keys = 0;
        for path in files.map(|file| file.unwrap().path()) {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            let Some(kind) = kind_of(&path, &text, None) else { continue };
            let read = extract(kind, &text);
            for offset in (0..=text.len()).step_by(41).filter(|offset| text.is_char_boundary(*offset)) {
                let Some(spot) = spot(kind, &text, &read.settings, offset) else { continue };
                assert!(spot.span.touches(offset), "{}:{offset} {spot:?}", path.display());
                keys += usize::from(matches!(spot.place, Place::Key(_)));
            }
        }
        assert!(keys > 20, "{keys}");
    }
}
