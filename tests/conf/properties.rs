//! Properties files held against what Spark kept of them.

use std::collections::BTreeMap;

use sparkls::conf::properties::{self, ProblemKind, PropertiesFile};
use sparkls::conf::{Carrier, Setting, Value};

const PROPERTIES_CASES: &str = include_str!("../fixtures/conf/properties-cases.tsv");

/// The input of a case: escapes as in C, special characters by name.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(match chars.next().unwrap() {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'f' => '\u{c}',
                'v' => '\u{b}',
                other => other,
            }),
            other => out.push(other),
        }
    }
    out.replace("<NBSP>", "\u{a0}").replace("<U+3000>", "\u{3000}").replace("<BOM>", "\u{feff}")
}

/// A result as the table writes it: `[key] -> [value]`, everything but printable ASCII as `\uXXXX`.
fn show(key: &str, value: &str) -> String {
    let escape = |text: &str| -> String {
        let plain = |c: char| (' '..='~').contains(&c);
        text.chars().map(|c| if plain(c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }).collect()
    };
    format!("[{}] -> [{}]", escape(key), escape(value))
}

/// What Spark holds after reading the file: the last of each key.
fn kept(file: &PropertiesFile, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let kept: BTreeMap<&str, &str> = file
        .settings
        .iter()
        .filter(|setting| keep(&setting.key))
        .map(|setting| (setting.key.as_str(), setting.value.literal().unwrap()))
        .collect();
    kept.into_iter().map(|(key, value)| show(key, value)).collect()
}

fn expected(column: &str) -> Vec<String> {
    if column == "(nothing)" {
        return Vec::new();
    }
    let mut pairs: Vec<String> = column.replace("  [", "\n[").lines().map(str::to_owned).collect();
    pairs.sort();
    pairs
}

#[test]
fn properties_files_are_read_as_spark_reads_them() {
    let mut cases = 0;
    for row in PROPERTIES_CASES.lines() {
        let [_, name, input, raw, _, submitted] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let file = properties::read(&unescape(input));
        cases += 1;
        assert_eq!(file.problems.iter().any(|problem| problem.fatal), raw.starts_with("ERR"), "{name}");
        if !raw.starts_with("ERR") {
            let sorted = |mut pairs: Vec<String>| {
                pairs.sort();
                pairs
            };
            assert_eq!(sorted(kept(&file, |_| true)), expected(raw), "{name}: properties");
            assert_eq!(
                sorted(kept(&file, |key| key.starts_with("spark."))),
                expected(submitted),
                "{name}: spark-submit"
            );
        }
    }
    assert_eq!(cases, 74);
}

fn only(text: &str) -> Setting {
    let file = properties::read(text);
    assert_eq!(file.settings.len(), 1, "{text:?}");
    file.settings.into_iter().next().unwrap()
}

#[test]
fn spans_cover_the_source_of_key_value_and_line() {
    for (text, key, value, line) in [
        ("spark.a   1  \nx", "spark.a", "1", "spark.a   1  \n"),
        ("  spark.a = 1\r\n", "spark.a", "1", "  spark.a = 1\r\n"),
        ("spark.a\\:b \\u0041c\\u0020", "spark.a\\:b", "\\u0041c", "spark.a\\:b \\u0041c\\u0020"),
        ("spark.a 1,\\\n  2 \n", "spark.a", "1,\\\n  2", "spark.a 1,\\\n  2 \n"),
        ("spark.a \\\n\n", "spark.a", "", "spark.a \\\n\n"),
        ("# c\n\nspark.a é 🦀\t\n# d", "spark.a", "é 🦀", "spark.a é 🦀\t\n"),
        ("spark.a", "spark.a", "", "spark.a"),
    ] {
        let file = properties::read(text);
        let setting = &file.settings[0];
        let found = [setting.key_span, setting.value_span, setting.span].map(|span| span.of(text));
        assert_eq!(found, [key, value, line], "{text:?}");
        assert_eq!(setting.carrier, Carrier::Properties);
    }
    let missing = only("spark.a = \n");
    assert_eq!(missing.value_span.start, 9, "where a value would stand");
}

/// `kind: text under the span` of each problem.
fn problems(text: &str) -> Vec<String> {
    let file = properties::read(text);
    file.problems.iter().map(|problem| format!("{:?}: {}", problem.kind, problem.span.of(text))).collect()
}

#[test]
fn traps_are_reported_at_their_place() {
    for (text, expected) in [
        ("spark.executor.memory 4g # heap\n", vec!["InlineComment: # heap"]),
        ("spark.executor.memory 4g // heap\n", vec!["InlineComment: // heap"]),
        ("spark.executor.memory 4g ! heap\n", vec!["InlineComment: ! heap"]),
        ("spark.executor.memory # 4g\n", vec!["InlineComment: # 4g"]),
        ("spark.executor.memory\u{a0}4g\n", vec!["Invisible: \u{a0}"]),
        ("spark.executor.memory 4g\u{a0}\n", vec!["Invisible: \u{a0}"]),
        ("\u{feff}spark.executor.memory 4g\n", vec!["Invisible: \u{feff}"]),
        ("// spark.a 1\n", vec!["ForeignSyntax: // spark.a 1"]),
        ("; spark.a 1\n", vec!["ForeignSyntax: ; spark.a 1"]),
        ("[spark]\nspark.a 1\n", vec!["ForeignSyntax: [spark]"]),
        ("export spark.a=1\n", vec!["ForeignSyntax: export spark.a=1"]),
        ("--conf spark.a=1\n", vec!["ForeignSyntax: --conf spark.a=1"]),
        ("  \"spark.a\": \"1\",\n", vec!["ForeignSyntax: \"spark.a\": \"1\","]),
        ("spark.master \"local[4]\"\n", vec!["Quoted: \"local[4]\""]),
        ("spark.executor.cores 4;\n", vec!["TrailingSeparator: ;"]),
        ("spark.executor.cores 4,\n", vec!["TrailingSeparator: ,"]),
        ("spark.a \\u12\n", vec!["MalformedEscape: \\u12"]),
        ("spark.a C:\\users\\me\n", vec!["MalformedEscape: \\users"]),
        ("spark.a 1,\\\n  # two\nspark.b 2\n", vec!["SwallowedComment: # two"]),
        ("spark.a 1,\\ \n  2\n", vec!["BrokenContinuation: \\ ", "Dropped: 2"]),
        ("spark.local.dir C:\\temp\\new\n", vec!["LostBackslash: C:\\temp\\new"]),
        ("spark.redaction.regex (?i)\\bsecret\n", vec!["LostBackslash: (?i)\\bsecret"]),
        ("spark.a 1\nhive.x 1\n", vec!["Dropped: hive.x"]),
        ("Spark.a 1\n", vec!["Dropped: Spark.a"]),
    ] {
        assert_eq!(problems(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_right_is_not_reported() {
    for text in [
        "spark.driver.extraJavaOptions -Dx=1 \"-Dy=a b\"\n",
        "spark.executor.extraJavaOptions \"-Dx=1\"\n",
        "spark.jars a.jar,b.jar,\n",
        "spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName=/m;\n",
        "spark.master spark://h:7077\n",
        "spark.eventLog.dir hdfs://a//b#c!\n",
        "spark.app.name caf\\u00e9 \\ud83e\\udd80\n",
        "spark.a 1\\\\\n",
        "spark.a 1,\\\n  2\n",
        "spark.a 1\\ \n\nspark.b 2\n",
        "spark.local.dir C:\\\\temp\n",
        "log4j.rootLogger INFO\nother = # x\n[section]\n",
    ] {
        assert_eq!(problems(text), [""; 0], "{text:?}");
    }
}

#[test]
fn a_crab_in_escapes_is_one_character() {
    assert_eq!(only("spark.app.name \\ud83e\\udd80").value, Value::Literal("🦀".to_owned()));
    assert_eq!(only("spark.app.name \\ud83e").value, Value::Literal("\u{fffd}".to_owned()));
}

#[test]
fn dropped_keys_say_how_to_hand_them_on() {
    let message = |text| properties::read(text).problems.remove(0).message;
    assert!(message("spark.a 1\nfs.s3a.endpoint x\n").contains("`spark.hadoop.fs.s3a.endpoint`"));
    assert!(message("spark.a 1\nhive.exec.x y\n").contains("`spark.hive.exec.x`"));
}

#[test]
fn templates_are_tolerated() {
    let text = "\
<% if @dynamic %>
spark.dynamicAllocation.enabled true
<% else -%>
spark.executor.instances <%= @instances %>
<% end %>
{%- for key in conf
   if key %}
spark.executor.memory {{ mem }}
{% endfor %}
{{- range $k, $v := .Values.conf }}
spark.sql.catalog.{{ name }}.uri {{ uri }}
spark.executor.cores ${CORES}
spark.driver.memory @DRIVER_MEMORY@
spark.local.dir ${env:TMP}
";
    let file = properties::read(text);
    assert!(file.is_template);
    assert_eq!(file.problems, []);
    let settings: Vec<(&str, Option<&str>)> =
        file.settings.iter().map(|setting| (setting.key.as_str(), setting.value.literal())).collect();
    assert_eq!(
        settings,
        [
            ("spark.dynamicAllocation.enabled", Some("true")),
            ("spark.executor.instances", None),
            ("spark.executor.memory", None),
            ("spark.sql.catalog.", None),
            ("spark.executor.cores", None),
            ("spark.driver.memory", None),
            ("spark.local.dir", Some("${env:TMP}")),
        ]
    );
    assert!(file.settings[3].key_is_prefix);
    assert!(!properties::read("spark.executor.memory {{ mem }}\n").is_template, "only control lines make one");
}

#[test]
fn any_bytes_are_read() {
    for text in [
        "",
        "\\",
        "=",
        " = ",
        "\\\n",
        "\\\n# x\nspark.a 1",
        "\u{0}\u{0}",
        "\\u",
        "\\ud83e\\u",
        "spark.a \\",
        "{%",
        "<% a\nb",
    ] {
        properties::read(text);
    }
    let kinds: Vec<ProblemKind> = properties::read("spark.a \\u").problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::MalformedEscape]);
}

proptest::proptest! {
    #[test]
    fn spans_fit_any_text(text in "([ \t\u{c}=:#!\\\\a-cu0-9.\n\r\u{a0}é🦀]|spark\\.|\\$\\{|\\{\\{|<%|@A@|C:\\\\){0,40}") {
        let file = properties::read(&text);
        let mut end = 0;
        for setting in &file.settings {
            for span in [setting.key_span, setting.value_span, setting.span] {
                proptest::prop_assert!(text.get(span.range()).is_some());
            }
            proptest::prop_assert!(setting.span.contains(setting.key_span) && setting.span.contains(setting.value_span));
            proptest::prop_assert!(setting.span.start >= end, "lines come in order");
            end = setting.span.end;
        }
        for problem in &file.problems {
            proptest::prop_assert!(text.get(problem.span.range()).is_some());
        }
    }
}
