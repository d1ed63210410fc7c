//! Command lines of `spark-submit` and the shells, word by word, in the order in which Spark reads them.
//!
//! Options come before the application file; the first word that is none is the application, and everything behind it
//! belongs to the application. The shells (`pyspark`, `spark-shell`, `spark-sql`) let both mix. `--option=value` and
//! `--option value` are the same. Flags win over `--conf`, wherever they stand; of two `--conf` the later wins.

use super::collect::Collector;
use super::tree::removal as list_removal;
use super::words::Word;
use super::{ProblemKind, Submit, Text, Tool, Value, sql};
use crate::conf::{Carrier, Setting};
use crate::text::Span;

/// Options that take a value, and the key that the value is kept under.
const FLAGS: [(&str, &str); 23] = [
    ("--archives", "spark.archives"),
    ("--deploy-mode", "spark.submit.deployMode"),
    ("--driver-class-path", "spark.driver.extraClassPath"),
    ("--driver-cores", "spark.driver.cores"),
    ("--driver-java-options", "spark.driver.extraJavaOptions"),
    ("--driver-library-path", "spark.driver.extraLibraryPath"),
    ("--driver-memory", "spark.driver.memory"),
    ("--exclude-packages", "spark.jars.excludes"),
    ("--executor-cores", "spark.executor.cores"),
    ("--executor-memory", "spark.executor.memory"),
    ("--files", "spark.files"),
    ("--jars", "spark.jars"),
    ("--keytab", "spark.kerberos.keytab"),
    ("--master", "spark.master"),
    ("--name", "spark.app.name"),
    ("--num-executors", "spark.executor.instances"),
    ("--packages", "spark.jars.packages"),
    ("--principal", "spark.kerberos.principal"),
    ("--py-files", "spark.submit.pyFiles"),
    ("--queue", "spark.yarn.queue"),
    ("--remote", "spark.remote"),
    ("--repositories", "spark.jars.repositories"),
    ("--total-executor-cores", "spark.cores.max"),
];

/// Further options that take a value; the last ones are those of `spark-sql`.
const WITH_VALUE: [&str; 13] = [
    "--class",
    "--kill",
    "--properties-file",
    "--proxy-user",
    "--status",
    "--hiveconf",
    "--hivevar",
    "--define",
    "--database",
    "-e",
    "-f",
    "-i",
    "-d",
];

/// Flags that no application has by chance.
const SPARKS_OWN: [&str; 12] = [
    "--deploy-mode",
    "--driver-class-path",
    "--driver-cores",
    "--driver-java-options",
    "--driver-library-path",
    "--driver-memory",
    "--executor-cores",
    "--executor-memory",
    "--num-executors",
    "--properties-file",
    "--py-files",
    "--total-executor-cores",
];

/// How the words are parted, for what a removal takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// By blanks.
    Line,
    /// By commas.
    List,
}

/// The words behind the name of a tool, or options without one.
pub(super) struct Options<'r, 'w> {
    /// The text that the words stand in.
    pub(super) document: &'r str,
    /// The words.
    pub(super) words: &'r [Word<'w>],
    /// How they are parted.
    pub(super) layout: Layout,
}

/// The tool that a command's name stands for.
pub(super) fn tool(command: &str) -> Option<Tool> {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = [".cmd", ".sh"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    Some(match name {
        "spark-submit" | "spark2-submit" | "spark3-submit" => Tool::SparkSubmit,
        "pyspark" | "pyspark3" => Tool::PySpark,
        "spark-shell" | "spark3-shell" => Tool::SparkShell,
        "spark-sql" | "spark3-sql" | "start-thriftserver" | "start-connect-server" => Tool::SparkSql,
        "sparkR" => Tool::SparkR,
        _ => return None,
    })
}

/// The key that a flag sets.
pub(super) fn key_of_flag(flag: &str) -> Option<&'static str> {
    FLAGS.iter().find(|(name, _)| *name == flag).map(|(_, key)| *key)
}

/// The options of spark-submit that start a job, each with the key that its value is kept under, if there is one.
pub fn flags() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let named = FLAGS.iter().map(|(flag, key)| (*flag, Some(*key)));
    ["--conf", "--class", "--properties-file", "--proxy-user"].into_iter().map(|flag| (flag, None)).chain(named)
}

/// Reads a command and adds it with its settings.
pub(super) fn read_command(tool: Tool, span: Span, options: &Options<'_, '_>, out: &mut Collector) {
    let submit = Submit {
        tool,
        span,
        application: None,
        arguments: Vec::new(),
        properties_file: None,
        class: None,
        settings: Vec::new(),
        after_application: Vec::new(),
    };
    let mut reader = Reader { options, at: 0, submit, out };
    reader.read();
    let submit = reader.submit;
    out.submit(submit);
}

/// Reads options that belong to a command elsewhere: a variable, an array, `sparkSubmitParameters`. Says which settings
/// they hold.
pub(super) fn read_options(options: &Options<'_, '_>, out: &mut Collector) -> Vec<usize> {
    let mut settings = Vec::new();
    let mut at = 0;
    while let Some(word) = options.words.get(at) {
        at += 1;
        let (name, inline) = parts(word);
        let carrier_of_flag = key_of_flag(name);
        if !is_conf(name) && carrier_of_flag.is_none() {
            continue;
        }
        let Some((value, from)) = value_of(options.words, at, word, inline) else { break };
        at += usize::from(inline.is_none());
        let setting = match carrier_of_flag {
            Some(key) => Some(flag_setting(options, word, key, value, from)),
            None => conf_setting(options, word, value, from, Carrier::SubmitConf)
                .filter(|setting| setting.key.starts_with("spark.")),
        };
        settings.extend(setting.map(|setting| out.add(setting)));
    }
    out.group(&settings);
    settings
}

struct Reader<'r, 'w, 'o> {
    options: &'r Options<'r, 'w>,
    at: usize,
    submit: Submit,
    out: &'o mut Collector,
}

impl<'r, 'w> Reader<'r, 'w, '_> {
    fn read(&mut self) {
        let mixes = self.submit.tool != Tool::SparkSubmit;
        while let Some(word) = self.options.words.get(self.at) {
            self.at += 1;
            let text = word.as_str();
            if text.starts_with('-') && text.len() > 1 {
                self.option(word);
            } else if self.may_be_options(word) {
                continue;
            } else if mixes {
                self.positional_of_shell(word);
            } else {
                self.submit.application = Some(word.to_text());
                self.behind_application();
                return;
            }
        }
    }

    fn positional_of_shell(&mut self, word: &Word<'w>) {
        if self.submit.application.is_none() && is_application(word.as_str()) {
            self.submit.application = Some(word.to_text());
        } else {
            self.submit.arguments.push(word.to_text());
        }
    }

    /// A word that is nothing but a variable may hold options: by its name, or if the application follows.
    fn may_be_options(&self, word: &Word<'w>) -> bool {
        let rest = &self.options.words[self.at..];
        let name = word.as_str().to_ascii_uppercase();
        let named_so = ["OPT", "CONF", "ARG", "FLAG", "PARAM"].iter().any(|part| name.contains(part));
        word.holes.first() == Some(0)
            && !is_application(&name.to_ascii_lowercase())
            && (named_so || rest.iter().any(|later| is_application(later.as_str()) || is_own(later.as_str())))
    }

    fn option(&mut self, word: &Word<'w>) {
        let (name, inline) = parts(word);
        let key = key_of_flag(name);
        if !is_conf(name) && key.is_none() && !self.takes_value(name) {
            if self.submit.tool != Tool::SparkSubmit && !is_switch(name) {
                self.submit.arguments.push(word.to_text());
            }
            return;
        }
        let Some((value, from)) = value_of(self.options.words, self.at, word, inline) else {
            self.out.problem(
                ProblemKind::MissingValue,
                word.span,
                format!("`{name}` takes a value; spark-submit stops when it is missing."),
            );
            return;
        };
        self.at += usize::from(inline.is_none());
        match key {
            Some(key) => {
                let index = self.out.add(flag_setting(self.options, word, key, value, from));
                self.submit.settings.push(index);
            }
            None if is_conf(name) => self.conf(word, value, from),
            None => self.keep(name, value, from),
        }
    }

    fn takes_value(&self, name: &str) -> bool {
        WITH_VALUE.contains(&name) && (name.starts_with("--") || self.submit.tool == Tool::SparkSql)
    }

    fn keep(&mut self, name: &str, value: &Word<'w>, from: usize) {
        let text = Text::of(&value.text.slice(from..value.as_str().len()), value.holes.from(from));
        match name {
            "--class" => self.submit.class = Some(text),
            "--properties-file" => self.submit.properties_file = Some(text),
            "-f" => self.submit.application = Some(text),
            "-e" => {
                let script = value.text.slice(from..value.as_str().len());
                let settings = sql::settings(&script).into_iter().map(|setting| self.out.add(setting));
                self.submit.settings.extend(settings);
            }
            _ => {}
        }
    }

    fn conf(&mut self, option: &Word<'w>, value: &Word<'w>, from: usize) {
        if let Some(spaced) = self.spaced_assignment(value, from) {
            let message = "The shell makes several arguments of this, and Spark reads them apart: \
                           write `key=value` without blanks around the `=`.";
            self.out.problem(ProblemKind::SpacedAssignment, spaced, message);
            return;
        }
        match conf_setting(self.options, option, value, from, Carrier::SubmitConf) {
            Some(setting) => {
                let index = self.out.add(setting);
                self.submit.settings.push(index);
            }
            None if value.holes.from(0) || value.as_str().contains('=') => {}
            None => {
                let message = "`--conf` takes `key=value`; without a `=` spark-submit stops.";
                self.out.problem(ProblemKind::MissingAssignment, value.span, message);
            }
        }
    }

    /// `key = value`, `key =value` or `key= value` in words of their own, or with its blanks in quotes.
    fn spaced_assignment(&mut self, value: &Word<'w>, from: usize) -> Option<Span> {
        let text = &value.as_str()[from..];
        if let Some((key, assigned)) = text.split_once('=') {
            let blank_inside = key.ends_with([' ', '\t']) || assigned.starts_with([' ', '\t']);
            if blank_inside && !key.trim().is_empty() && !key.trim().contains(char::is_whitespace) {
                return Some(value.span);
            }
            let rest = &self.options.words[self.at..];
            let [next, after, ..] = rest else { return None };
            let is_value = assigned.is_empty()
                && !next.as_str().starts_with('-')
                && !is_application(next.as_str())
                && after.as_str().starts_with("--")
                && next.holes.first().is_none();
            if is_value && is_own(after.as_str()) {
                self.at += 1;
                return Some(value.span.cover(next.span));
            }
            return None;
        }
        let next = self.options.words.get(self.at)?;
        if !next.as_str().starts_with('=') {
            return None;
        }
        self.at += 1;
        let mut last = next;
        if next.as_str() == "="
            && let Some(assigned) = self.options.words.get(self.at)
            && !assigned.as_str().starts_with("--")
        {
            self.at += 1;
            last = assigned;
        }
        Some(value.span.cover(last.span))
    }

    fn behind_application(&mut self) {
        while let Some(word) = self.options.words.get(self.at) {
            self.at += 1;
            self.submit.arguments.push(word.to_text());
            let (name, inline) = parts(word);
            let value = value_of(self.options.words, self.at, word, inline);
            if !is_lost(name, value.map(|(value, from)| &value.as_str()[from..])) {
                continue;
            }
            let end = value.map_or(word.span, |(value, _)| value.span);
            self.submit.after_application.push(word.span.cover(end));
        }
    }
}

/// Whether an option behind the application file was meant for Spark.
fn is_lost(name: &str, value: Option<&str>) -> bool {
    match name {
        "--conf" => value.is_some_and(|value| value.starts_with("spark.")),
        "--packages" => value.is_some_and(|value| value.contains(':')),
        _ => SPARKS_OWN.contains(&name),
    }
}

/// The name of an option, and where its value begins if it stands behind a `=`.
pub(super) fn parts<'t>(word: &'t Word<'_>) -> (&'t str, Option<usize>) {
    let text = word.as_str();
    match text.find('=').filter(|&at| text.starts_with("--") && at > 2 && at + 1 < text.len()) {
        Some(at) => (&text[..at], Some(at + 1)),
        None => (text, None),
    }
}

/// The word that holds an option's value, and where the value begins in it.
pub(super) fn value_of<'r, 'w>(
    words: &'r [Word<'w>],
    next: usize,
    word: &'r Word<'w>,
    inline: Option<usize>,
) -> Option<(&'r Word<'w>, usize)> {
    match inline {
        Some(from) => Some((word, from)),
        None => words.get(next).map(|value| (value, 0)),
    }
}

fn is_conf(name: &str) -> bool {
    matches!(name, "--conf" | "-c")
}

fn is_switch(name: &str) -> bool {
    matches!(
        name,
        "--verbose" | "-v" | "--supervise" | "--usage-error" | "--help" | "-h" | "--version" | "--load-spark-defaults"
    )
}

/// Whether the words of an unknown command hold an option that is none of its own by chance.
pub(super) fn mean_spark(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| SPARKS_OWN.contains(&parts(word).0) || word.as_str().starts_with("spark."))
        || words.iter().any(|word| word.as_str().starts_with("--conf=spark."))
}

/// Whether a text begins with an option of spark-submit and goes on behind it.
pub(super) fn begins_with_option(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.next().is_some_and(|first| is_own(first) && first.starts_with("--")) && words.next().is_some()
}

/// Whether it is an option of spark-submit.
fn is_own(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    name == "--conf" || key_of_flag(name).is_some()
}

/// Whether it is a file that can be submitted, by its ending.
pub(super) fn is_application(text: &str) -> bool {
    [".py", ".jar", ".R", ".r", ".ipynb", ".sql", ".whl", ".egg"].iter().any(|ending| text.ends_with(ending))
        || matches!(text, "pyspark-shell" | "spark-shell" | "sparkr-shell" | "spark-internal")
}

fn flag_setting(options: &Options<'_, '_>, option: &Word<'_>, key: &str, value: &Word<'_>, from: usize) -> Setting {
    let (name, _) = parts(option);
    Setting {
        key: key.to_owned(),
        key_is_prefix: false,
        value: value.value(from),
        key_span: option.text.span(0..name.len()),
        value_span: value.text.span(from..value.as_str().len()),
        span: whole(options, option, value),
        carrier: Carrier::SubmitFlag,
    }
}

/// The setting of a `--conf`; `None` without a `=` or without anything known of the key.
fn conf_setting(
    options: &Options<'_, '_>,
    option: &Word<'_>,
    value: &Word<'_>,
    from: usize,
    carrier: Carrier,
) -> Option<Setting> {
    let text = value.as_str();
    let assign = from + text[from..].find('=')?;
    let key_is_prefix = value.holes.before(assign);
    let key_end = if key_is_prefix { value.holes.first().unwrap_or(assign).max(from) } else { assign };
    if key_end == from {
        return None;
    }
    let assigned = if key_is_prefix && value.holes.from(assign) { Value::Template } else { value.value(assign + 1) };
    Some(Setting {
        key: text[from..key_end].to_owned(),
        key_is_prefix,
        value: assigned,
        key_span: value.text.span(from..key_end),
        value_span: value.text.span(assign + 1..text.len()),
        span: whole(options, option, value),
        carrier,
    })
}

/// The option with its value as a removal takes them.
fn whole(options: &Options<'_, '_>, option: &Word<'_>, value: &Word<'_>) -> Span {
    let document = options.document;
    let between = document.get(option.span.end as usize..value.span.start as usize).unwrap_or(";");
    let parts = |char: char| match options.layout {
        Layout::Line => char == '\\',
        Layout::List => matches!(char, ',' | '-'),
    };
    let neighbours = between.chars().all(|char| char.is_whitespace() || parts(char));
    let span = if neighbours { option.span.cover(value.span) } else { value.span };
    match options.layout {
        Layout::List => list_removal(document, with_dash(document, span)),
        Layout::Line => line_removal(document, span),
    }
}

/// A member of a YAML list with its dash.
fn with_dash(document: &str, span: Span) -> Span {
    let before = document.get(..span.start as usize).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    if line.trim() != "-" {
        return span;
    }
    Span::new(before.len() - line.trim_start().len(), span.end as usize)
}

/// The blanks in front of a word, and the continuation that led to it, so that what stands behind it moves up.
fn line_removal(document: &str, span: Span) -> Span {
    let before = document.get(..span.start as usize).unwrap_or_default();
    let mut kept = before.trim_end_matches([' ', '\t']);
    let line = kept.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    if let Some(continued) = line.and_then(|line| line.strip_suffix('\\')) {
        kept = continued.trim_end_matches([' ', '\t']);
    }
    Span::new(kept.len(), span.end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf::carriers::mapped::Mapped;
    use crate::conf::carriers::{Extract, words};

    fn read(command: &str) -> Extract {
        let words = words::split(&Mapped::verbatim(command, Span::new(0, command.len())));
        let (name, rest) = words.split_first().unwrap();
        let mut out = Collector::default();
        let options = Options { document: command, words: rest, layout: Layout::Line };
        read_command(tool(name.as_str()).unwrap(), Span::new(0, command.len()), &options, &mut out);
        out.finish()
    }

    #[test]
    fn options_end_at_the_application_file() {
        let command = "spark-submit --master yarn -c spark.a=1 --conf=spark.b=x=y --driver-memory=2g --verbose \
                       job.py --conf spark.c=3 --name n --executor-memory=4g";
        let extract = read(command);
        let settings: Vec<(&str, Option<&str>, u8)> = extract
            .settings
            .iter()
            .map(|setting| (setting.key.as_str(), setting.value.literal(), setting.carrier.rank()))
            .collect();
        assert_eq!(
            settings,
            [
                ("spark.master", Some("yarn"), 25),
                ("spark.a", Some("1"), 20),
                ("spark.b", Some("x=y"), 20),
                ("spark.driver.memory", Some("2g"), 25)
            ]
        );
        let submit = &extract.submits[0];
        assert_eq!(submit.application.as_ref().unwrap().text, "job.py");
        assert_eq!(submit.arguments.len(), 5);
        let lost: Vec<&str> = submit.after_application.iter().map(|span| span.of(command)).collect();
        assert_eq!(lost, ["--conf spark.c=3", "--executor-memory=4g"]);
    }

    #[test]
    fn shells_mix_options_and_arguments() {
        let extract = read("pyspark --conf spark.a=1 x --conf spark.b=2");
        assert_eq!(extract.settings.len(), 2);
        assert_eq!(extract.submits[0].after_application, []);
        assert_eq!(read("spark-sql -e 'select 1' --conf spark.b=2").settings.len(), 1);
    }

    #[test]
    fn what_spark_reads_otherwise_is_a_problem() {
        for (command, problems) in [
            ("spark-submit --conf spark.a = 1 job.py", vec!["SpacedAssignment: spark.a = 1"]),
            ("spark-submit --conf spark.a =1 job.py", vec!["SpacedAssignment: spark.a =1"]),
            ("spark-submit --conf spark.a= 1 --conf spark.b=1 job.py", vec!["SpacedAssignment: spark.a= 1"]),
            ("spark-submit --conf 'spark.a = 1' job.py", vec!["SpacedAssignment: 'spark.a = 1'"]),
            ("spark-submit --conf spark.a job.py", vec!["MissingAssignment: spark.a"]),
            ("spark-submit --conf", vec!["MissingValue: --conf"]),
            ("spark-submit --conf spark.a= job.py --conf", vec![]),
            ("spark-submit --conf 'spark.a=-Dx = 1' job.py", vec![]),
        ] {
            let found: Vec<String> = read(command)
                .problems
                .iter()
                .map(|problem| format!("{:?}: {}", problem.kind, problem.span.of(command)))
                .collect();
            assert_eq!(found, problems, "{command}");
        }
        assert_eq!(
            read("spark-submit --conf spark.a = 1 job.py").submits[0].application.as_ref().unwrap().text,
            "job.py"
        );
    }

    #[test]
    fn a_removal_leaves_the_command_whole() {
        for (command, left) in [
            ("spark-submit --conf spark.a=1 job.py", "spark-submit job.py"),
            ("spark-submit \\\n  --conf spark.a=1 \\\n  job.py", "spark-submit \\\n  job.py"),
            ("pyspark --name x \\\r\n  --conf spark.a=1", "pyspark --name x"),
        ] {
            let extract = read(command);
            let removed = extract.settings.last().unwrap().span;
            let mut text = command.to_owned();
            text.replace_range(removed.range(), "");
            assert_eq!(text, left);
        }
    }
}
