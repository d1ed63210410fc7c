//! The table of settings: spot checks that always run, and the whole table against the facts it was made from.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use serde_json::Value;
use sparkls::catalog::{
    self, Bounds, ByteUnit, CaseFold, Default, Family, Kind, Scope, SettingFacts, SparkVersion, TimeUnit, VERSIONS,
    VersionIndex, nearest, setting, settings, similar,
};

fn facts(key: &str) -> &'static SettingFacts {
    setting(key).unwrap_or_else(|| panic!("{key} is in the table"))
}

fn version(text: &str) -> SparkVersion {
    text.parse().unwrap()
}

fn names(near: Vec<&SettingFacts>) -> Vec<&str> {
    near.into_iter().map(SettingFacts::name).collect()
}

#[test]
fn a_version_has_the_facts_of_its_minor_else_of_the_newest_before() {
    for (asked, found) in [
        ("3.5.0", "3.5.9"),
        ("3.5", "3.5.9"),
        ("4.3.0", "4.3.0"),
        ("5.0", "4.3.0"),
        ("3.9.1", "3.5.9"),
        ("2.4.8", "3.0.3"),
    ] {
        assert_eq!(nearest(version(asked)).version().to_string(), found, "{asked}");
    }
}

#[test]
fn defaults_follow_the_version() {
    let quantile = facts("spark.speculation.quantile");
    assert_eq!(quantile.default(version("3.5")), Default::Value("0.75"));
    assert_eq!(quantile.default(version("4.0")), Default::Value("0.9"));
    let history: Vec<String> = quantile.history().iter().map(|(run, default)| format!("{run}: {default:?}")).collect();
    assert_eq!(history, [r#"3.0-3.5: Value("0.75")"#, r#"4.0-4.3: Value("0.9")"#]);
    assert_eq!(facts("spark.sql.adaptive.enabled").default(version("3.1")), Default::Value("false"));
    assert_eq!(facts("spark.sql.adaptive.enabled").default(version("3.2")), Default::Value("true"));
    assert_eq!(facts("spark.locality.wait.node").default(version("3.5")), Default::Fallback("spark.locality.wait"));
    assert_eq!(facts("spark.executor.instances").default(version("3.5")), Default::Unset);
    assert_eq!(facts("spark.api.mode").default(version("3.5")), Default::Absent);
    assert!(matches!(facts("spark.sql.session.timeZone").default(version("4.0")), Default::Symbolic(_)));
    assert_eq!(facts("spark.local.dir").default(version("4.0")), Default::Unknown);
}

#[test]
fn types_follow_the_version() {
    let factor = facts("spark.sql.adaptive.skewJoin.skewedPartitionFactor");
    assert_eq!((factor.kind(version("3.3")), factor.kind(version("3.4"))), (Kind::Int, Kind::Double));
    assert_eq!(facts("spark.sql.shuffle.partitions").kind(version("3.5")), Kind::Int);
    assert!(!facts("spark.sql.shuffle.partitions").bounds(version("3.5")).unwrap().admits(0.0));
    assert_eq!(facts("spark.executor.memory").kind(version("3.5")), Kind::Bytes(ByteUnit::MiB));
    assert_eq!(facts("spark.network.timeout").kind(version("3.5")), Kind::Time(TimeUnit::Seconds));
    assert_eq!(facts("spark.yarn.executor.memoryOverhead").kind(version("3.5")), Kind::Bytes(ByteUnit::MiB));
    assert_eq!(facts("spark.kryoserializer.buffer.mb").kind(version("3.5")), Kind::Untyped, "it is converted");
    assert_eq!(facts("spark.port.maxRetries").kind(version("3.5")), Kind::Int, "read as raw text with getInt");
}

#[test]
fn allowed_values_follow_the_version() {
    let codec = facts("spark.sql.orc.compression.codec");
    assert!(!codec.allowed(version("3.1")).contains(&"zstd"));
    assert!(codec.allowed(version("3.2")).contains(&"zstd"));
    assert_eq!(codec.case_fold(version("3.2")), Some(CaseFold::Lower));
    assert_eq!(codec.default(version("4.0")), Default::Value("zstd"));
}

#[test]
fn scopes_say_what_can_change_at_run_time() {
    let v = version("3.5");
    assert_eq!(facts("spark.sql.shuffle.partitions").scope(v), Some(Scope::SqlRuntime));
    assert_eq!(facts("spark.executor.memory").scope(v), Some(Scope::Core));
    assert!(facts("spark.sql.warehouse.dir").is_static(v));
    assert_eq!(facts("spark.local.dir").scope(v), None);
}

#[test]
fn a_key_that_was_read_before_it_was_declared_is_present() {
    let parallelism = facts("spark.default.parallelism");
    assert!(parallelism.present(version("3.0")) && !parallelism.registered_in(version("3.0")));
    assert!(!facts("spark.speculation.efficiency.enabled").present(version("3.3")));
    assert!(!facts("spark.blacklist.enabled").present(version("3.1")));
}

#[test]
fn older_names_know_their_main_key() {
    let main = facts("spark.yarn.executor.memoryOverhead").alternative_of().unwrap();
    assert_eq!((main.key, main.since, main.translates), ("spark.executor.memoryOverhead", Some("2.3"), false));
    assert_eq!(facts("spark.excludeOnFailure.enabled").alternatives(version("4.0")), ["spark.blacklist.enabled"]);
    assert!(facts("spark.excludeOnFailure.enabled").alternatives(version("4.1")).is_empty());
    let removed = facts("spark.sql.hive.verifyPartitionPath").removed_in().unwrap();
    assert_eq!((removed.since, removed.accepted), ("4.0.0", "false"));
    assert_eq!(facts("spark.shuffle.unsafe.file.output.buffer").deprecated_in(), Some("4.0.0"));
}

#[test]
fn probed_bounds_are_intervals() {
    let v = version("4.2");
    let share = facts("spark.memory.storageFraction").bounds(v).unwrap();
    assert!(share.admits(0.0) && share.admits(0.3) && !share.admits(1.0) && !share.admits(-0.1), "[0, 1)");
    let factor = facts("spark.driver.memoryOverheadFactor").bounds(v).unwrap();
    assert!(!factor.admits(0.0) && factor.admits(0.00001) && factor.admits(1e9), "(0, ...)");
}

#[test]
fn slips_find_the_name_that_was_meant() {
    for (written, meant) in [
        ("spark.sql.shuffle.partition", "spark.sql.shuffle.partitions"),
        ("spark.sql.adaptive.enbled", "spark.sql.adaptive.enabled"),
        ("spark.SQL.shuffle.partitions", "spark.sql.shuffle.partitions"),
        ("spark.executor.memroy", "spark.executor.memory"),
        ("spark.sql.executor.memoryOverhead", "spark.executor.memoryOverhead"),
        ("spark.shuffle.sql.partitions", "spark.sql.shuffle.partitions"),
        ("spark.sql.adaptive.skewedPartitionFactor", "spark.sql.adaptive.skewJoin.skewedPartitionFactor"),
        ("spark.dynamicAllocation.enable", "spark.dynamicAllocation.enabled"),
        ("spark.sql.autobroadcastjointhreshold", "spark.sql.autoBroadcastJoinThreshold"),
        ("spark.jar", "spark.jars"),
    ] {
        assert_eq!(names(similar(written)).first(), Some(&meant), "{written}");
    }
}

#[test]
fn far_names_find_nothing() {
    for far in [
        "spark.myteam.retries",
        "spark.foo",
        "spark.lab.custom",
        "foo.bar",
        "",
        "spark.",
        "spark.app.pipeline.executor.count",
    ] {
        assert_eq!(names(similar(far)), [""; 0], "{far}");
    }
    assert!(similar("spark.executor.memory").is_empty(), "a known name needs no correction");
}

#[test]
fn free_names_belong_to_families() {
    for (name, family) in [
        ("spark.hadoop.fs.s3a.access.key", Some(Family::Hadoop)),
        ("fs.s3a.access.key", Some(Family::Hadoop)),
        ("spark.executorEnv.PYTHONPATH", Some(Family::Environment)),
        ("spark.kubernetes.driver.label.team", Some(Family::Kubernetes)),
        ("spark.sql.catalog.prod.uri", Some(Family::Catalog)),
        ("spark.executor.resource.gpu.amount", Some(Family::Resource)),
        ("spark.executor.resource.gpu.amont", None),
        ("spark.shuffle.io.maxRetries", Some(Family::Transport)),
        ("spark.ssl.historyServer.port", Some(Family::Ssl)),
        ("spark.scheduler.listenerbus.eventqueue.shared.capacity", Some(Family::ListenerQueue)),
        ("spark.databricks.delta.optimizeWrite.enabled", Some(Family::Vendor("Delta Lake"))),
        ("spark.myteam.retries", Some(Family::Application)),
        ("spark.sql.shuffle.partition", None),
        ("spark.SQL.shuffle.partitions", None),
        ("spark.hadoop.", None),
        ("nonsense", None),
    ] {
        assert_eq!(catalog::family(name), family, "{name}");
    }
    let near = catalog::family_name_near("spark.executor.resource.gpu.amont");
    assert_eq!(near.as_deref(), Some("spark.executor.resource.gpu.amount"));
    assert_eq!(
        catalog::family_name_near("spark.shuffle.io.maxretries").as_deref(),
        Some("spark.shuffle.io.maxRetries")
    );
    assert_eq!(catalog::family_name_near("spark.shuffle.io.maxRetries"), None);
}

#[test]
fn keys_of_old_sparks_are_remembered() {
    assert_eq!(catalog::retired("spark.akka.threads").unwrap().since, "2.0");
    assert_eq!(catalog::retired("spark.storage.memoryFraction").unwrap().instead, Some("spark.memory.storageFraction"));
    assert_eq!(catalog::retired("spark.executor.memory"), None);
    for instead in ["spark.shuffle.memoryFraction", "spark.sql.codegen", "spark.sql.planner.sortMergeJoin"]
        .map(|key| catalog::retired(key).unwrap().instead.unwrap())
    {
        assert!(facts(instead).registered_in(VersionIndex::NEWEST), "{instead}");
    }
}

#[test]
fn settings_come_sorted_and_prefixes_are_marked() {
    let all: Vec<&str> = settings().map(SettingFacts::name).collect();
    assert_eq!(all.len(), 2025);
    assert!(all.is_sorted());
    assert!(facts("spark.hadoop.").is_prefix() && facts("spark.ssl").is_prefix());
    assert!(!facts("spark.rpc").is_prefix() && !facts("spark.local.dir").is_prefix());
}

/// The facts file beside the repository, or where `SPARKLS_SHARED` says.
fn facts_file() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("SPARKLS_SHARED").map_or(beside, PathBuf::from);
    Some(shared.join("data/settings/settings.json")).filter(|path| path.is_file())
}

#[test]
fn the_table_says_what_the_facts_say() {
    let Some(path) = facts_file() else {
        println!("skipped: no shared data");
        return;
    };
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let all = all.as_object().unwrap();
    assert_eq!(all.len(), settings().count());
    for (key, expected) in all {
        compare(facts(key), expected);
    }
}

fn compare(facts: &SettingFacts, expected: &Value) {
    let key = facts.name();
    assert_eq!(facts.registered(), expected.get("unregistered").is_none(), "{key}");
    let seen = facts.declared_in().map(|run| [run.first, run.last].map(|v| v.version().to_string()));
    let expected_seen = expected.get("firstSeen").map(|first| [text(first), text(&expected["lastSeen"])]);
    assert_eq!(seen, expected_seen, "{key}: first and last seen");
    let raw = facts.raw_in().map(|run| [run.first, run.last].map(|v| v.version().to_string()));
    let expected_raw = expected.get("rawString").map(|run| [text(&run[0]), text(&run[1])]);
    assert_eq!(raw, expected_raw, "{key}: raw");
    let main = facts.alternative_of().map(|main| (main.key.to_owned(), main.since.map(str::to_owned), main.translates));
    let expected_main = expected.get("alternativeOf").map(|main| {
        (text(&main["key"]), main.get("since").map(text), main.get("translates") == Some(&Value::Bool(true)))
    });
    assert_eq!(main, expected_main, "{key}: alternative of");
    assert_eq!(facts.deprecated_in(), expected["deprecatedIn"]["since"].as_str(), "{key}: deprecated");
    let removed = facts.removed_in().map(|removed| (removed.since, removed.accepted));
    let expected_removed = &expected["removedIn"];
    assert_eq!(removed.map(|r| r.0), expected_removed["since"].as_str(), "{key}: removed");
    assert_eq!(removed.map(|r| r.1), expected_removed["okValue"].as_str(), "{key}: removed");
    for v in VersionIndex::all() {
        compare_version(facts, expected, v);
    }
}

fn compare_version(facts: &SettingFacts, expected: &Value, v: VersionIndex) {
    let name = v.version().to_string();
    let key = format!("{} in {name}", facts.name());
    let Some(default) = expected["versions"].get(&name) else {
        assert!(!facts.registered_in(v), "{key}");
        return;
    };
    let written = match facts.default(v) {
        Default::Value(text) => Some(text.to_owned()),
        Default::Unset => None,
        Default::Symbolic(text) => Some(format!("<{text}>")),
        Default::Fallback(key) => Some(format!("<value of {key}>")),
        other => panic!("{key}: {other:?}"),
    };
    assert_eq!(written.as_deref(), default.as_str(), "{key}: default");
    assert_eq!(matches!(facts.default(v), Default::Symbolic(_)), expected.get("dynamicDefault").is_some(), "{key}");
    let fact = |name: &str| at(&expected[name], v);
    if let Default::Fallback(other) = facts.default(v) {
        assert_eq!(Some(other), fact("fallback").as_str(), "{key}: fallback");
    } else {
        assert!(fact("fallback").is_null(), "{key}: fallback");
    }
    let optional = fact("optional").as_bool().unwrap();
    assert!(facts.default(v) == Default::Unset || !optional, "{key}: an optional setting has no default");
    assert_eq!(kind(facts.kind(v)), (text(fact("type")), fact("unit").as_str().map(str::to_owned)), "{key}: type");
    let scope = match facts.scope(v).unwrap() {
        Scope::Core => "core",
        Scope::SqlRuntime => "sql-runtime",
        Scope::SqlStatic => "sql-static",
    };
    assert_eq!(scope, fact("scope").as_str().unwrap(), "{key}: scope");
    assert_eq!(facts.is_static(v), fact("static").as_bool().unwrap_or(false), "{key}: static");
    assert_eq!(facts.since_in(v).unwrap_or(""), fact("since").as_str().unwrap(), "{key}: since");
    assert_eq!(facts.public(v), fact("public").as_bool().unwrap(), "{key}: public");
    assert_eq!(facts.allowed(v), list(fact("allowed")), "{key}: allowed");
    assert_eq!(facts.alternatives(v), list(fact("alternatives")), "{key}: alternatives");
    assert_eq!(facts.prepended_key(v), fact("prependedKey").as_str(), "{key}: prepended key");
    let fold = match facts.case_fold(v) {
        Some(CaseFold::Lower) => Some("lower"),
        Some(CaseFold::Upper) => Some("upper"),
        None => None,
    };
    assert_eq!(fold, fact("caseFold").as_str(), "{key}: case");
    // Accepts 0 and 5 minutes but not 1: no interval, so the table keeps none.
    if facts.name() != "spark.kubernetes.executor.pvc.resizeInterval" {
        compare_bounds(facts.bounds(v), fact("bounds"), &key);
    }
}

fn compare_bounds(bounds: Option<Bounds>, expected: &Value, key: &str) {
    let Some(bounds) = bounds else {
        assert!(expected.is_null(), "{key}: bounds");
        return;
    };
    if let Some(accepted) = expected.get("accepted") {
        for probe in ["-1", "-0.0001", "0", "0.0001", "0.5", "0.9999", "1", "1.0001", "2", "100"] {
            assert_eq!(bounds.admits(probe.parse().unwrap()), list(accepted).contains(&probe), "{key}: {probe}");
        }
    } else {
        assert_eq!(bounds.min.map(|min| min.value), expected.get("min").and_then(Value::as_f64), "{key}: min");
        assert_eq!(bounds.max.map(|max| max.value), expected.get("max").and_then(Value::as_f64), "{key}: max");
    }
}

/// A fact in one version: the facts file has a map by version where versions differ.
fn at(fact: &Value, v: VersionIndex) -> &Value {
    let by_version = |map: &serde_json::Map<String, Value>| {
        !map.is_empty() && map.keys().all(|key| VERSIONS.iter().any(|version| version.to_string() == *key))
    };
    match fact {
        Value::Object(map) if by_version(map) => map.get(&v.version().to_string()).unwrap_or(&Value::Null),
        other => other,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn list(value: &Value) -> Vec<&str> {
    value.as_array().map_or(Vec::new(), |values| values.iter().filter_map(Value::as_str).collect())
}

fn kind(kind: Kind) -> (String, Option<String>) {
    let (name, unit) = match kind {
        Kind::Boolean => ("boolean", None),
        Kind::Int => ("int", None),
        Kind::Long => ("long", None),
        Kind::Double => ("double", None),
        Kind::Decimal => ("decimal", None),
        Kind::String => ("string", None),
        Kind::StringList => ("string[]", None),
        Kind::LongList => ("long[]", None),
        Kind::Bytes(ByteUnit::Byte) => ("bytes", Some("BYTE")),
        Kind::Bytes(ByteUnit::KiB) => ("bytes", Some("KiB")),
        Kind::Bytes(ByteUnit::MiB) => ("bytes", Some("MiB")),
        Kind::Time(TimeUnit::Nanoseconds) => ("time", Some("NANOSECONDS")),
        Kind::Time(TimeUnit::Milliseconds) => ("time", Some("MILLISECONDS")),
        Kind::Time(TimeUnit::Seconds) => ("time", Some("SECONDS")),
        Kind::Time(TimeUnit::Minutes) => ("time", Some("MINUTES")),
        Kind::Regex => ("regex", None),
        Kind::Enum => ("enum", None),
        Kind::Untyped => ("untyped", None),
    };
    (name.to_owned(), unit.map(str::to_owned))
}

proptest::proptest! {
    #[test]
    fn any_name_can_be_asked_for(name in "(spark|sql|io|executor|resource|ssl|\\.|[a-cA-C_é🦀:-]){0,12}") {
        let near = similar(&name);
        proptest::prop_assert!(near.iter().all(|facts| facts.name() != name));
        if let Some(near) = catalog::family_name_near(&name) {
            proptest::prop_assert!(catalog::family(&near).is_some());
        }
        catalog::retired(&name);
    }
}
