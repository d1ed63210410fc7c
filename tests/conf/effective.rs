//! Which of the places that set a key wins.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use sparkls::catalog::SparkVersion;
use sparkls::conf::{Bytes, Carrier, EffectiveConf, Layer, Millis, Origin, Value};

fn layer(carrier: Carrier, line: u32, key: &str, value: &str) -> Layer {
    Layer {
        key: key.to_owned(),
        value: Value::Literal(value.to_owned()),
        origin: Origin::Written { carrier, path: Arc::new(PathBuf::from("job")), line },
    }
}

fn conf(version: &str, layers: &[(Carrier, &str, &str)]) -> EffectiveConf {
    let layers = layers.iter().zip(1..).map(|((carrier, key, value), line)| layer(*carrier, line, key, value));
    EffectiveConf::new(version.parse().unwrap(), layers.collect())
}

/// The value in force and the line that set it, or who did.
fn show(conf: &EffectiveConf, key: &str) -> String {
    let effective = conf.get(key);
    let origin = match effective.origin {
        Some(Origin::Launches(launches)) => format!("{} launches", launches.len()),
        Some(Origin::Written { line, .. }) => format!("line {line}"),
        Some(Origin::Run(label)) => label,
        Some(Origin::Default(version)) => format!("default of {version}"),
        None => "nobody".to_owned(),
    };
    let value = if effective.template { "?".to_owned() } else { effective.value.unwrap_or_else(|| "-".to_owned()) };
    format!("{value} by {origin}")
}

fn run(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

const PARTITIONS: &str = "spark.sql.shuffle.partitions";

#[test]
fn the_higher_rank_wins_and_within_it_the_later_line() {
    let conf = conf(
        "3.5.9",
        &[
            (Carrier::RuntimeSet, PARTITIONS, "1"),
            (Carrier::Properties, PARTITIONS, "2"),
            (Carrier::Builder, PARTITIONS, "3"),
            (Carrier::SparkConf, PARTITIONS, "4"),
            (Carrier::SqlSet, PARTITIONS, "5"),
        ],
    );
    let effective = conf.get(PARTITIONS);
    assert_eq!(effective.value.as_deref(), Some("5"));
    let lost: Vec<&str> = effective.overridden.iter().filter_map(|layer| layer.value.literal()).collect();
    assert_eq!(lost, ["1", "4", "3", "2"], "nearest first");
}

#[test]
fn nobody_leaves_it_to_the_version() {
    let (old, new) = (conf("3.5.9", &[]), conf("4.0.5", &[]));
    assert_eq!(show(&old, "spark.speculation.quantile"), "0.75 by default of 3.5.9");
    assert_eq!(show(&new, "spark.speculation.quantile"), "0.9 by default of 4.0.5");
    assert_eq!(show(&old, "spark.executor.instances"), "- by default of 3.5.9");
    assert_eq!(show(&old, "spark.api.mode"), "- by nobody", "not in this version");
    assert_eq!(show(&old, "spark.myteam.retries"), "- by nobody");
    assert_eq!(show(&old, "spark.rdd.compress"), "true by default of 3.5.9", "PySpark's, not the JVM's");
    assert_eq!(show(&new, "spark.sql.artifact.isolation.enabled"), "false by default of 4.0.5");
}

#[test]
fn fallback_keys_are_followed() {
    let set = conf("3.5.9", &[(Carrier::Properties, "spark.locality.wait", "7s")]);
    assert_eq!(show(&set, "spark.locality.wait.node"), "7s by line 1");
    assert_eq!(show(&conf("3.5.9", &[]), "spark.locality.wait.node"), "3s by default of 3.5.9");
    let own = conf(
        "3.5.9",
        &[(Carrier::Properties, "spark.locality.wait", "7s"), (Carrier::Properties, "spark.locality.wait.node", "0")],
    );
    assert_eq!(show(&own, "spark.locality.wait.node"), "0 by line 2");
    let advisory = conf("3.5.9", &[(Carrier::Builder, "spark.sql.adaptive.shuffle.targetPostShuffleInputSize", "1g")]);
    assert_eq!(show(&advisory, "spark.sql.adaptive.advisoryPartitionSizeInBytes"), "1g by line 1");
}

#[test]
fn an_older_name_counts_while_the_key_is_not_set() {
    let old = ("spark.yarn.executor.memoryOverhead", "512");
    let only = conf("3.5.9", &[(Carrier::Builder, old.0, old.1)]);
    assert_eq!(show(&only, "spark.executor.memoryOverhead"), "512 by line 1");
    assert_eq!(only.bytes("spark.executor.memoryOverhead"), Some(Bytes(512 << 20)));
    let both = conf(
        "3.5.9",
        &[(Carrier::Builder, old.0, old.1), (Carrier::Properties, "spark.executor.memoryOverhead", "1g")],
    );
    assert_eq!(show(&both, "spark.executor.memoryOverhead"), "1g by line 2", "whatever the rank");
    assert_eq!(both.get("spark.executor.memoryOverhead").overridden.len(), 1);
    let blacklist = [(Carrier::Properties, "spark.blacklist.enabled", "true")];
    assert_eq!(show(&conf("4.0.5", &blacklist), "spark.excludeOnFailure.enabled"), "true by line 1");
    assert_eq!(show(&conf("4.1.4", &blacklist), "spark.excludeOnFailure.enabled"), "- by default of 4.1.4");
    let converted = conf("3.5.9", &[(Carrier::Properties, "spark.kryoserializer.buffer.mb", "0.064")]);
    assert_eq!(show(&converted, "spark.kryoserializer.buffer"), "? by line 1");
}

#[test]
fn a_template_wins_as_an_unknown_value() {
    let template = Layer { value: Value::Template, ..layer(Carrier::Builder, 9, PARTITIONS, "") };
    let conf =
        EffectiveConf::new(SparkVersion::new(3, 5, 9), vec![layer(Carrier::Properties, 1, PARTITIONS, "10"), template]);
    assert_eq!(show(&conf, PARTITIONS), "? by line 9");
    assert_eq!(conf.integer(PARTITIONS), None);
}

#[test]
fn a_run_is_the_truth_for_what_was_written_before_its_start() {
    let written =
        conf("3.5.9", &[(Carrier::Properties, "spark.executor.memory", "4g"), (Carrier::Builder, PARTITIONS, "10")]);
    let ran = written.clone().with_run("last run", &run(&[("spark.executor.memory", "8g"), (PARTITIONS, "10")]));
    assert_eq!(show(&ran, "spark.executor.memory"), "8g by last run");
    assert_eq!(ran.get("spark.executor.memory").overridden.len(), 1);
    assert_eq!(show(&ran, PARTITIONS), "10 by line 2", "the place that says the same is named");
    assert_eq!(ran.get(PARTITIONS).overridden, []);
    let spelled = written.with_run("last run", &run(&[("spark.executor.memory", "4096m")]));
    assert_eq!(show(&spelled, "spark.executor.memory"), "4g by line 1");
    let later =
        conf("3.5.9", &[(Carrier::RuntimeSet, PARTITIONS, "20")]).with_run("last run", &run(&[(PARTITIONS, "10")]));
    assert_eq!(show(&later, PARTITIONS), "20 by line 1");
    let twice =
        conf("3.5.9", &[]).with_run("old", &run(&[(PARTITIONS, "1")])).with_run("new", &run(&[(PARTITIONS, "2")]));
    assert_eq!(show(&twice, PARTITIONS), "2 by new");
}

#[test]
fn a_properties_file_cannot_set_other_keys() {
    let conf = conf("3.5.9", &[(Carrier::Properties, "hive.x", "1"), (Carrier::RuntimeSet, "hive.y", "1")]);
    let winners: Vec<&str> = conf.winners().map(|(key, _)| key).collect();
    assert_eq!(winners, ["hive.y"]);
}

#[test]
fn winners_come_once_each_sorted() {
    let conf = conf(
        "3.5.9",
        &[
            (Carrier::Properties, "spark.b", "1"),
            (Carrier::Properties, "spark.a", "2"),
            (Carrier::Builder, "spark.b", "3"),
        ],
    );
    let winners: Vec<(&str, Option<String>)> = conf.winners().map(|(key, effective)| (key, effective.value)).collect();
    assert_eq!(winners, [("spark.a", Some("2".to_owned())), ("spark.b", Some("3".to_owned()))]);
}

#[test]
fn values_in_force_have_types() {
    let conf = conf(
        "3.5.9",
        &[(Carrier::Properties, "spark.network.timeout", "2min"), (Carrier::Properties, "spark.speculation", "TRUE ")],
    );
    assert_eq!(conf.millis("spark.network.timeout"), Some(Millis(120_000)));
    assert_eq!(conf.bytes("spark.sql.autoBroadcastJoinThreshold"), Some(Bytes(10 << 20)));
    assert_eq!(conf.boolean("spark.speculation"), Some(true));
    assert_eq!(conf.integer(PARTITIONS), Some(200));
    assert_eq!(conf.double("spark.speculation.multiplier"), Some(1.5));
    assert_eq!(conf.bytes("spark.app.name"), None);
}
