//! Keys that old Sparks read and that none since 3.0 does.

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Retired {
    /// The Spark version that stopped reading it.
    pub since: &'static str,
    /// The key to set instead, if there is one.
    pub instead: Option<&'static str>,
    /// What happened, as a sentence.
    pub what: &'static str,
}

const AKKA: &str = "Spark talks through its own RPC layer instead of Akka.";
const UNIFIED: &str = "Execution and storage share one memory region since the unified memory manager.";
const HTTP_SERVERS: &str = "The HTTP servers that used it became part of Spark's RPC layer.";
const EXTERNAL_STORE: &str = "Keeping blocks in Tachyon or Alluxio was removed.";
const NIO: &str = "The NIO block transfer that it belonged to was removed; Netty is the only one.";
const ALWAYS_ON: &str = "What it switched on is the only way that Spark works.";
const MESOS: &str = "Support for Mesos was removed.";

/// Exact keys.
const KEYS: [(&str, Retired); 24] = [
    ("spark.broadcast.factory", gone("2.0", "There is one way to broadcast, in blocks between executors.")),
    ("spark.broadcast.port", gone("2.0", HTTP_SERVERS)),
    ("spark.cleaner.ttl", gone("2.0", "Metadata is cleaned up when nothing refers to it, not by age.")),
    ("spark.core.connection.ack.wait.timeout", renamed("1.6", "spark.network.timeout", NIO)),
    ("spark.fileserver.port", gone("2.0", HTTP_SERVERS)),
    ("spark.memory.useLegacyMode", gone("3.0", UNIFIED)),
    ("spark.replClassServer.port", gone("2.0", HTTP_SERVERS)),
    ("spark.shuffle.blockTransferService", gone("1.6", NIO)),
    ("spark.shuffle.consolidateFiles", gone("1.6", "The hash shuffle with one file per reducer was removed.")),
    ("spark.shuffle.memoryFraction", renamed("3.0", "spark.memory.fraction", UNIFIED)),
    ("spark.shuffle.safetyFraction", renamed("3.0", "spark.memory.fraction", UNIFIED)),
    ("spark.shuffle.use.netty", gone("1.6", NIO)),
    (
        "spark.sql.adaptive.minNumPostShufflePartitions",
        renamed(
            "3.0",
            "spark.sql.adaptive.coalescePartitions.minPartitionSize",
            "Adaptive execution bounds the size of coalesced partitions instead of their number.",
        ),
    ),
    ("spark.sql.codegen", renamed("1.6", "spark.sql.codegen.wholeStage", ALWAYS_ON)),
    ("spark.sql.dialect", gone("2.0", "There is one SQL parser.")),
    ("spark.sql.parquet.useDataSourceApi", gone("1.6", ALWAYS_ON)),
    ("spark.sql.planner.externalSort", gone("1.6", ALWAYS_ON)),
    ("spark.sql.planner.sortMergeJoin", renamed("1.6", "spark.sql.join.preferSortMergeJoin", ALWAYS_ON)),
    ("spark.sql.tungsten.enabled", gone("1.6", ALWAYS_ON)),
    ("spark.sql.unsafe.enabled", gone("1.6", ALWAYS_ON)),
    ("spark.sql.useSerializer2", gone("1.6", ALWAYS_ON)),
    ("spark.storage.memoryFraction", renamed("3.0", "spark.memory.storageFraction", UNIFIED)),
    ("spark.storage.safetyFraction", renamed("3.0", "spark.memory.storageFraction", UNIFIED)),
    ("spark.storage.unrollFraction", renamed("3.0", "spark.memory.storageFraction", UNIFIED)),
];

/// Beginnings of keys.
const PREFIXES: [(&str, Retired); 4] = [
    ("spark.akka.", gone("2.0", AKKA)),
    ("spark.externalBlockStore.", gone("2.0", EXTERNAL_STORE)),
    ("spark.tachyonStore.", gone("2.0", EXTERNAL_STORE)),
    ("spark.mesos.", gone("4.0", MESOS)),
];

const fn gone(since: &'static str, what: &'static str) -> Retired {
    Retired { since, instead: None, what }
}

const fn renamed(since: &'static str, instead: &'static str, what: &'static str) -> Retired {
    Retired { since, instead: Some(instead), what }
}

/// What became of a key that no Spark since 3.0 declares; `None` if it is none of those. Keys that the table knows have
/// their own facts ([`super::SettingFacts::deprecated_in`], [`super::SettingFacts::removed_in`]).
pub fn retired(name: &str) -> Option<Retired> {
    let exact = KEYS.iter().find(|(key, _)| *key == name);
    exact.or_else(|| PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix))).map(|(_, retired)| *retired)
}
