//! Values held against what Spark's own parsers made of them.

use sparkls::catalog::{ByteUnit, SettingFacts, SparkVersion, TimeUnit, nearest, setting};
use sparkls::conf::value::{self, Noticed, Parsed, Reason, noticed, parse, parse_raw, same_value};
use sparkls::conf::{Bytes, Carrier, Millis};

const CASES: [(&str, &str); 2] = [
    ("3.5", include_str!("../fixtures/conf/value-cases.3.5.tsv")),
    ("4.3", include_str!("../fixtures/conf/value-cases.4.3.tsv")),
];

fn version(text: &str) -> SparkVersion {
    text.parse().unwrap()
}

fn facts(key: &str) -> &'static SettingFacts {
    setting(key).unwrap_or_else(|| panic!("{key} is in the table"))
}

/// What the parser that a row is about makes of its value, as the table writes it; `None` for other rows.
fn result(case: &str, v: SparkVersion) -> Option<Result<String, ()>> {
    let index = nearest(v);
    let number = |result: Result<i64, value::Refusal>| result.map(|number| number.to_string()).map_err(drop);
    if let Some(pair) = case.strip_prefix("get(ConfigEntry) ") {
        let (key, text) = pair.split_once('=')?;
        let facts = facts(key);
        let shown = parse(facts, v, text).map_err(drop).map(|parsed| match parsed {
            Parsed::Boolean(value) => value.to_string(),
            Parsed::Integer(number) | Parsed::Bytes(number, _) | Parsed::Time(number, _) => number.to_string(),
            Parsed::Double(number) => format!("{number:?}"),
            Parsed::Text(text) => text,
            other => panic!("{case}: {other:?}"),
        });
        let optional = facts.default(v) == sparkls::catalog::Default::Unset;
        return Some(shown.map(|shown| if optional { format!("Some({shown})") } else { shown }));
    }
    let (parser, text) = ["bytes(default B) ", "bytes(as MiB) ", "time(default s) ", "time(as ms) "]
        .into_iter()
        .find_map(|parser| Some((parser, case.strip_prefix(parser)?)))
        .or_else(|| case.strip_prefix("SparkConf.")?.split_once(' '))?;
    let text = &text.replace("<NBSP>", "\u{a0}");
    Some(match parser.trim_end() {
        "bytes(default B)" => number(value::bytes(text, ByteUnit::Byte, index)),
        "bytes(as MiB)" | "getSizeAsMb" => number(value::bytes(text, ByteUnit::MiB, index)),
        "time(default s)" => number(value::time(text, TimeUnit::Seconds)),
        "time(as ms)" | "getTimeAsMs" => number(value::time(text, TimeUnit::Milliseconds)),
        "getBoolean" => value::boolean(text).map(|value| value.to_string()).map_err(drop),
        "getInt" => number(value::integer(text, i32::MIN.into(), i32::MAX.into())),
        "getDouble" => value::double(text).map(|number| format!("{number:?}")).map_err(drop),
        _ => return None,
    })
}

#[test]
fn values_are_parsed_as_spark_parses_them() {
    for (version_name, table) in CASES {
        let mut cases = 0;
        for row in table.lines() {
            let [_, case, expected] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let Some(result) = result(case, version(version_name)) else { continue };
            cases += 1;
            let expected = expected.strip_prefix("OK ").map(str::to_owned).ok_or(());
            assert_eq!(result, expected, "{case:?} in {version_name}");
        }
        assert_eq!(cases, 153, "rows on parsers in {version_name}");
    }
}

#[test]
fn references_of_sparks_own_are_left_to_spark() {
    for text in ["${env:MEM}", "${system:mem}", "${spark.driver.memory}"] {
        assert_eq!(parse(facts("spark.executor.memory"), version("3.5"), text), Ok(Parsed::Reference), "{text}");
    }
    assert!(parse(facts("spark.executor.memory"), version("3.5"), "${MEM}").is_err(), "Spark keeps it as it is");
}

#[test]
fn runtime_settings_take_what_a_session_took() {
    for (key, text, accepted) in [
        ("spark.sql.shuffle.partitions", " 10 ", true),
        ("spark.sql.shuffle.partitions", "0", false),
        ("spark.sql.shuffle.partitions", "auto", false),
        ("spark.sql.adaptive.enabled", " true ", true),
        ("spark.sql.adaptive.advisoryPartitionSizeInBytes", "64MiB", true),
        ("spark.sql.adaptive.advisoryPartitionSizeInBytes", "0", false),
        ("spark.sql.adaptive.coalescePartitions.minPartitionSize", "0", false),
        ("spark.sql.autoBroadcastJoinThreshold", "-1b", true),
        ("spark.sql.autoBroadcastJoinThreshold", "off", false),
        ("spark.sql.autoBroadcastJoinThreshold", "100 MB", false),
        ("spark.sql.broadcastTimeout", "-1", true),
        ("spark.sql.broadcastTimeout", "1.5m", false),
        ("spark.sql.adaptive.skewJoin.skewedPartitionFactor", "1.5", true),
        ("spark.sql.storeAssignmentPolicy", "ansi", true),
        ("spark.sql.storeAssignmentPolicy", "loose", false),
        ("spark.sql.parquet.compression.codec", "SNAPPY", true),
        ("spark.sql.parquet.compression.codec", "lzma", false),
        ("spark.sql.legacy.timeParserPolicy", "legacy", true),
    ] {
        assert_eq!(parse(facts(key), version("4.3"), text).is_ok(), accepted, "{key}={text:?}");
    }
}

#[test]
fn refusals_say_why_and_what_was_meant() {
    for (key, text, reason, suggestion) in [
        ("spark.executor.memory", "4 g", Reason::BlankBeforeUnit, Some("4g")),
        ("spark.executor.memory", "1.5g", Reason::Fraction, Some("1536m")),
        ("spark.executor.memory", "1.5GiB", Reason::Fraction, Some("1536m")),
        ("spark.executor.memory", ".5g", Reason::Fraction, Some("512m")),
        ("spark.executor.memory", "4gib", Reason::UnknownUnit, Some("4g")),
        ("spark.executor.memory", "4 gigabytes", Reason::BlankBeforeUnit, Some("4g")),
        ("spark.executor.memory", "+4g", Reason::Sign, Some("4g")),
        ("spark.executor.memory", "1_000m", Reason::NotNumber, Some("1000m")),
        ("spark.executor.memory", "\"4g\"", Reason::NotNumber, Some("4g")),
        ("spark.executor.memory", "4g # heap", Reason::NotNumber, Some("4g")),
        ("spark.executor.memory", "lots", Reason::NotNumber, None),
        ("spark.executor.memory", "", Reason::Empty, None),
        ("spark.executor.memory", "99999999999999999999g", Reason::TooBig, None),
        ("spark.locality.wait", "3 sec", Reason::BlankBeforeUnit, Some("3s")),
        ("spark.locality.wait", "1.5s", Reason::Fraction, Some("1500ms")),
        ("spark.network.timeout", "2.5m", Reason::Fraction, Some("150s")),
        ("spark.network.timeout", "2hours", Reason::UnknownUnit, Some("2h")),
        ("spark.speculation", "yes", Reason::NotBoolean, Some("true")),
        ("spark.speculation", "0", Reason::NotBoolean, Some("false")),
        ("spark.speculation", "maybe", Reason::NotBoolean, None),
        ("spark.executor.cores", "4.0", Reason::NotInteger, Some("4")),
        ("spark.executor.cores", "1e1", Reason::NotInteger, Some("10")),
        ("spark.executor.cores", "two", Reason::NotInteger, None),
        ("spark.sql.shuffle.partitions", "3000000000", Reason::TooBig, None),
        ("spark.sql.shuffle.partitions", "1,000", Reason::NotInteger, Some("1000")),
        ("spark.sql.shuffle.partitions", "0", Reason::BelowMinimum, None),
        ("spark.memory.storageFraction", "60%", Reason::NotNumber, Some("0.6")),
        ("spark.memory.storageFraction", "0,6", Reason::NotNumber, Some("0.6")),
        ("spark.memory.storageFraction", "1.5", Reason::AboveMaximum, None),
        ("spark.sql.storeAssignmentPolicy", "ANSI;", Reason::NotAllowed, Some("ANSI")),
        ("spark.sql.parquet.compression.codec", "snapy", Reason::NotAllowed, Some("snappy")),
        ("spark.sql.catalogImplementation", "mem", Reason::NotAllowed, None),
        ("spark.redaction.regex", "(", Reason::BrokenRegex, None),
    ] {
        let refusal = parse(facts(key), version("3.5"), text).unwrap_err();
        assert_eq!((refusal.reason, refusal.suggestion.as_deref()), (reason, suggestion), "{key}={text:?}");
        assert!(refusal.message.ends_with('.'), "{}", refusal.message);
    }
}

#[test]
fn regular_expressions_that_java_compiles_pass() {
    for text in ["(?i)secret|password", "[](]", "[^])]+", "\\(", "a{2}", "\\Q(\\E", "(a(b)[(])", ""] {
        assert!(parse(facts("spark.redaction.regex"), version("3.5"), text).is_ok(), "{text}");
    }
}

#[test]
fn names_of_a_family_are_read_as_they_are() {
    let v = version("3.5");
    assert_eq!(parse_raw("spark.shuffle.io.maxRetries", v, "5"), Ok(Parsed::Integer(5)));
    assert_eq!(parse_raw("spark.shuffle.io.retryWait", v, "1min"), Ok(Parsed::Time(60, TimeUnit::Seconds)));
    let refusal = parse_raw("spark.shuffle.io.maxRetries", v, " 5 ").unwrap_err();
    assert_eq!(refusal.suggestion.as_deref(), Some("5"), "raw numbers are not trimmed");
    assert_eq!(parse_raw("spark.myteam.retries", v, "many"), Ok(Parsed::Text("many".to_owned())));
}

#[test]
fn every_default_is_a_value_that_its_setting_accepts() {
    use sparkls::catalog::{Default, VersionIndex, settings};
    for facts in settings() {
        for v in VersionIndex::all() {
            if let Default::Value(default) = facts.default(v) {
                let parsed = parse(facts, v, default);
                assert!(parsed.is_ok(), "{} in {}: {parsed:?}", facts.name(), v.version());
            }
        }
    }
}

#[test]
fn one_value_has_many_spellings() {
    let v = version("3.5");
    let memory = facts("spark.executor.memory");
    assert!(same_value(memory, v, "64m", "67108864b") && same_value(memory, v, "1g", "1024"));
    assert!(!same_value(memory, v, "1g", "1025m") && !same_value(memory, v, "lots", "many"));
    assert!(same_value(facts("spark.network.timeout"), v, "120s", "2min"));
    assert!(same_value(facts("spark.speculation"), v, "TRUE", "true"));
    assert!(same_value(facts("spark.sql.parquet.compression.codec"), v, "ZSTD", "zstd"));
    assert!(!same_value(facts("spark.app.name"), v, "a", "A"));
    assert_eq!(parse(memory, v, "1g").unwrap().bytes(), Some(Bytes(1 << 30)));
    assert_eq!(parse(facts("spark.locality.wait"), v, "3s").unwrap().millis(), Some(Millis(3000)));
}

#[test]
fn a_refusal_comes_to_light_where_spark_looks() {
    for (key, carrier, expected) in [
        ("spark.executor.memory", Carrier::Properties, Noticed::AtStart),
        ("spark.driver.maxResultSize", Carrier::Builder, Noticed::AtStart),
        ("spark.speculation", Carrier::SparkConf, Noticed::AtStart),
        ("spark.sql.shuffle.partitions", Carrier::Builder, Noticed::AtFirstQuery),
        ("spark.sql.catalogImplementation", Carrier::Properties, Noticed::AtFirstQuery),
        ("spark.default.parallelism", Carrier::Properties, Noticed::AtFirstJob),
        ("spark.locality.wait", Carrier::Properties, Noticed::WhenRead),
        ("spark.driver.memory", Carrier::Builder, Noticed::Never),
        ("spark.sql.shuffle.partitions", Carrier::RuntimeSet, Noticed::AtSet),
        ("spark.executor.memory", Carrier::SqlSet, Noticed::AtSet),
        ("spark.kubernetes.allocation.batch.size", Carrier::RuntimeSet, Noticed::Never),
        ("spark.port.maxRetries", Carrier::RuntimeSet, Noticed::Never),
    ] {
        assert_eq!(noticed(facts(key), carrier, version("4.3")), expected, "{key}");
    }
}

proptest::proptest! {
    #[test]
    fn a_suggestion_is_always_accepted(
        key in proptest::sample::select(vec![
            "spark.executor.memory", "spark.locality.wait", "spark.speculation", "spark.executor.cores", "spark.task.cpus",
            "spark.memory.storageFraction", "spark.sql.storeAssignmentPolicy", "spark.redaction.regex", "spark.jars",
        ]),
        text in "([0-9.,_+%e -]{0,6}(k|kib|gb|m|min|sec|hours|é|🦀|on|No|ANSI|strict|\\(|\\[|\\\\|;|\"| #)?){0,2}",
    ) {
        for v in ["3.0", "4.3"].map(version) {
            if let Err(refusal) = parse(facts(key), v, &text)
                && let Some(suggestion) = refusal.suggestion
            {
                proptest::prop_assert!(parse(facts(key), v, &suggestion).is_ok(), "{key}={text:?}: {suggestion:?}");
            }
            proptest::prop_assert!(same_value(facts(key), v, &text, &text));
        }
    }
}
