//! Names that are free in part: real settings that no table can list.

use super::raw::TRANSPORT;
use super::similar::distance;

/// What kind of name it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// `spark.hadoop.*`: handed to Hadoop without the prefix.
    Hadoop,
    /// `spark.hive.*`: handed to Hive without `spark.`.
    Hive,
    /// An environment variable: `spark.executorEnv.*`, `spark.yarn.appMasterEnv.*`, `spark.kubernetes.driverEnv.*`.
    Environment,
    /// A label, annotation, secret, volume or node selector of Kubernetes.
    Kubernetes,
    /// `spark.sql.catalog.NAME` and the options of that catalog.
    Catalog,
    /// `spark.metrics.conf.*`.
    Metrics,
    /// `spark.{driver,executor,task,worker}.resource.NAME.*` and YARN's resources.
    Resource,
    /// `spark.ssl.*` for one of Spark's servers.
    Ssl,
    /// `spark.MODULE.io.*`.
    Transport,
    /// A queue of the listener bus.
    ListenerQueue,
    /// Options of a plugin: shuffle, catalog-independent sources, encryption libraries.
    Plugin,
    /// Settings of a vendor's Spark or of a library beside Spark; whose.
    Vendor(&'static str),
    /// No name that Spark has any use for: an application's own, read back with `conf.get`.
    Application,
}

/// Beginnings of names whose rest is free.
const OPEN: [(&str, Family); 34] = [
    ("spark.hadoop.", Family::Hadoop),
    ("spark.hive.", Family::Hive),
    ("spark.executorEnv.", Family::Environment),
    ("spark.yarn.appMasterEnv.", Family::Environment),
    ("spark.kubernetes.driverEnv.", Family::Environment),
    ("spark.mesos.driverEnv.", Family::Environment),
    ("spark.kubernetes.driver.label.", Family::Kubernetes),
    ("spark.kubernetes.driver.annotation.", Family::Kubernetes),
    ("spark.kubernetes.driver.service.label.", Family::Kubernetes),
    ("spark.kubernetes.driver.service.annotation.", Family::Kubernetes),
    ("spark.kubernetes.driver.secrets.", Family::Kubernetes),
    ("spark.kubernetes.driver.secretKeyRef.", Family::Kubernetes),
    ("spark.kubernetes.driver.node.selector.", Family::Kubernetes),
    ("spark.kubernetes.driver.volumes.", Family::Kubernetes),
    ("spark.kubernetes.executor.label.", Family::Kubernetes),
    ("spark.kubernetes.executor.annotation.", Family::Kubernetes),
    ("spark.kubernetes.executor.service.label.", Family::Kubernetes),
    ("spark.kubernetes.executor.service.annotation.", Family::Kubernetes),
    ("spark.kubernetes.executor.secrets.", Family::Kubernetes),
    ("spark.kubernetes.executor.secretKeyRef.", Family::Kubernetes),
    ("spark.kubernetes.executor.node.selector.", Family::Kubernetes),
    ("spark.kubernetes.executor.volumes.", Family::Kubernetes),
    ("spark.kubernetes.node.selector.", Family::Kubernetes),
    ("spark.sql.catalog.", Family::Catalog),
    ("spark.metrics.conf.", Family::Metrics),
    ("spark.shuffle.plugin.__config__.", Family::Plugin),
    ("spark.plugins.internal.conf.", Family::Plugin),
    ("spark.io.encryption.commons.config.", Family::Plugin),
    ("spark.network.crypto.config.", Family::Plugin),
    ("spark.mesos.dispatcher.driverDefault.", Family::Plugin),
    ("spark.sql.streaming.stateStore.rocksdb.", Family::Plugin),
    ("spark.security.credentials.", Family::Plugin),
    ("spark.yarn.security.credentials.", Family::Plugin),
    ("spark.yarn.security.tokens.", Family::Plugin),
];

/// Beginnings of names that belong to vendors and to libraries beside Spark.
const VENDORS: [(&str, &str); 42] = [
    ("spark:", "Dataproc"),
    ("spark.databricks.delta.", "Delta Lake"),
    ("spark.databricks.", "Databricks"),
    ("spark.delta.", "Delta Lake"),
    ("spark.emr.", "Amazon EMR"),
    ("spark.emr-serverless.", "Amazon EMR"),
    ("spark.glue.", "AWS Glue"),
    ("spark.dataproc.", "Dataproc"),
    ("spark.dataprocEtm.", "Dataproc"),
    ("spark.fabric.", "Microsoft Fabric"),
    ("spark.microsoft.", "Microsoft Fabric"),
    ("spark.ms.", "Microsoft Fabric"),
    ("spark.native.", "Microsoft Fabric"),
    ("spark.synapse.", "Azure Synapse"),
    ("spark.rapids.", "RAPIDS Accelerator"),
    ("spark.celeborn.", "Apache Celeborn"),
    ("spark.rss.", "a remote shuffle service"),
    ("spark.gluten.", "Apache Gluten"),
    ("spark.comet.", "Apache DataFusion Comet"),
    ("spark.blaze.", "Blaze"),
    ("spark.auron.", "Apache Auron"),
    ("spark.hudi.", "Apache Hudi"),
    ("spark.iceberg.", "Apache Iceberg"),
    ("spark.sql.iceberg.", "Apache Iceberg"),
    ("spark.paimon.", "Apache Paimon"),
    ("spark.openlineage.", "OpenLineage"),
    ("spark.datahub.", "DataHub"),
    ("spark.spline.", "Spline"),
    ("spark.kyuubi.", "Apache Kyuubi"),
    ("spark.livy.", "Apache Livy"),
    ("spark.kafka.", "the Kafka connector"),
    ("spark.streaming.kafka.", "the Kafka connector"),
    ("spark.sql.streaming.kafka.", "the Kafka connector"),
    ("spark.streaming.kinesis.", "the Kinesis connector"),
    ("spark.sql.emr.", "Amazon EMR"),
    ("spark.cassandra.", "the Cassandra connector"),
    ("spark.mongodb.", "the MongoDB connector"),
    ("spark.es.", "the Elasticsearch connector"),
    ("spark.redis.", "the Redis connector"),
    ("spark.snowflake.", "the Snowflake connector"),
    ("spark.neo4j.", "the Neo4j connector"),
    ("spark.sedona.", "Apache Sedona"),
];

/// Leaves of `spark.ssl.*`.
const SSL: [&str; 19] = [
    "certChain",
    "enabled",
    "enabledAlgorithms",
    "keyPassword",
    "keyStore",
    "keyStorePassword",
    "keyStoreType",
    "needClientAuth",
    "openSslEnabled",
    "port",
    "privateKey",
    "privateKeyPassword",
    "protocol",
    "trustStore",
    "trustStorePassword",
    "trustStoreReloadIntervalMs",
    "trustStoreReloadingEnabled",
    "trustStoreType",
    "useNodeLocalConf",
];
const SSL_SERVERS: [&str; 6] = ["akka", "fs", "historyServer", "rpc", "standalone", "ui"];
const RESOURCE: [&str; 3] = ["amount", "discoveryScript", "vendor"];
const QUEUE: [&str; 1] = ["capacity"];

/// Names that are free in one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeName {
    /// What stands before the free part.
    pub before: &'static str,
    /// What the free part is: `name`, or `NAME` for an environment variable.
    pub placeholder: &'static str,
    /// What stands behind it.
    pub behind: &'static str,
}

impl FreeName {
    /// The name with `NAME` for what is free.
    pub fn label(&self) -> String {
        format!("{}NAME{}", self.before, self.behind)
    }
}

/// Names with a free part and a fixed end.
const ENDED: [(&str, &str); 7] = [
    ("spark.driver.resource.", ".amount"),
    ("spark.executor.resource.", ".amount"),
    ("spark.executor.resource.", ".discoveryScript"),
    ("spark.task.resource.", ".amount"),
    ("spark.yarn.driver.resource.", ".amount"),
    ("spark.yarn.executor.resource.", ".amount"),
    ("spark.scheduler.listenerbus.eventqueue.", ".capacity"),
];

/// Every name of Spark's own that is free in part; those of Mesos, which is gone, are left out.
pub fn free_names() -> impl Iterator<Item = FreeName> {
    let open = OPEN.iter().filter(|(before, _)| !before.starts_with("spark.mesos.")).map(|(before, family)| {
        let is_variable = *family == Family::Environment || before.ends_with(".secretKeyRef.");
        FreeName { before, placeholder: if is_variable { "NAME" } else { "name" }, behind: "" }
    });
    open.chain(ENDED.iter().map(|(before, behind)| FreeName { before, placeholder: "name", behind }))
}

/// Which family of free names `name` belongs to; `None` for names of Spark's own, known or not.
pub fn family(name: &str) -> Option<Family> {
    if let Some((_, family)) = OPEN.iter().find(|(prefix, _)| longer(name, prefix)) {
        return Some(*family);
    }
    if let Some((_, vendor)) = VENDORS.iter().find(|(prefix, _)| longer(name, prefix)) {
        return Some(Family::Vendor(vendor));
    }
    if let Some((family, leaf, leaves)) = closed(name) {
        return leaves.contains(&leaf).then_some(family);
    }
    let own = name.strip_prefix("spark.").and_then(|rest| rest.split('.').next());
    match own {
        Some(section) if is_section(section) => None,
        Some(_) => Some(Family::Application),
        None => foreign(name),
    }
}

/// For a name of a family with few leaves whose leaf is none of them, but nearly: the name as it should be.
pub fn family_name_near(name: &str) -> Option<String> {
    let (_, leaf, leaves) = closed(name)?;
    let near = |known: &&&str| known.eq_ignore_ascii_case(leaf) || distance(known, leaf, 2).is_some();
    let known = leaves.iter().filter(|known| **known != leaf).find(near)?;
    (!leaves.contains(&leaf)).then(|| format!("{}{known}", &name[..name.len() - leaf.len()]))
}

/// The family with a fixed set of leaves that `name` belongs to, its leaf, and the leaves there are.
fn closed(name: &str) -> Option<(Family, &str, &'static [&'static str])> {
    let rest = name.strip_prefix("spark.")?;
    let segments: Vec<&str> = rest.split('.').collect();
    let closed: (Family, &str, &'static [&'static str]) = match segments[..] {
        ["ssl", server, leaf] if SSL_SERVERS.contains(&server) => (Family::Ssl, leaf, &SSL),
        ["ssl", leaf] => (Family::Ssl, leaf, &SSL),
        ["shuffle" | "rpc" | "network" | "files", "io", leaf] => (Family::Transport, leaf, &TRANSPORT),
        ["driver" | "executor" | "task" | "worker", "resource", _, leaf] => (Family::Resource, leaf, &RESOURCE),
        ["yarn", "am" | "driver" | "executor", "resource", _, leaf] => (Family::Resource, leaf, &RESOURCE),
        ["scheduler", "listenerbus", "eventqueue", _, leaf] => (Family::ListenerQueue, leaf, &QUEUE),
        _ => return None,
    };
    Some(closed)
}

/// Whether `section` is the first word of a setting of Spark's own, whatever its case.
fn is_section(section: &str) -> bool {
    let known = |facts: &super::SettingFacts| {
        let first = facts.name().strip_prefix("spark.").and_then(|rest| rest.split('.').next());
        first.is_some_and(|first| first.eq_ignore_ascii_case(section))
    };
    super::settings().any(known)
}

/// Keys of Hadoop and Hive without `spark.`: a session hands them on when they are set at run time.
fn foreign(name: &str) -> Option<Family> {
    const HADOOP: [&str; 12] = [
        "adl.",
        "dfs.",
        "fs.",
        "google.cloud.",
        "hadoop.",
        "io.",
        "ipc.",
        "mapred.",
        "mapreduce.",
        "orc.",
        "parquet.",
        "yarn.",
    ];
    if name.starts_with("hive.") || name.starts_with("javax.jdo.") || name.starts_with("datanucleus.") {
        return Some(Family::Hive);
    }
    HADOOP.iter().any(|prefix| name.starts_with(prefix)).then_some(Family::Hadoop)
}

fn longer(name: &str, prefix: &str) -> bool {
    name.len() > prefix.len() && name.starts_with(prefix)
}
