//! The page of Spark's documentation that describes a setting.

use super::{Family, Releases, Scope, SettingFacts, SparkVersion, VersionIndex, family, nearest, setting};

const SITE: &str = "https://spark.apache.org/docs";

const APPLICATION: &str = "configuration.html#application-properties";
const RUNTIME: &str = "configuration.html#runtime-environment";
const SHUFFLE: &str = "configuration.html#shuffle-behavior";
const PUSH: &str = "configuration.html#push-based-shuffle-overview";
const UI: &str = "configuration.html#spark-ui";
const SERIALIZATION: &str = "configuration.html#compression-and-serialization";
const MEMORY: &str = "configuration.html#memory-management";
const EXECUTION: &str = "configuration.html#execution-behavior";
const EXECUTOR_METRICS: &str = "configuration.html#executor-metrics";
const NETWORKING: &str = "configuration.html#networking";
const SCHEDULING: &str = "configuration.html#scheduling";
const BARRIER: &str = "configuration.html#barrier-execution-mode";
const RUNTIME_SQL: &str = "configuration.html#runtime-sql-configuration";
const STATIC_SQL: &str = "configuration.html#static-sql-configuration";
const STANDALONE: &str = "spark-standalone.html";
const KUBERNETES: &str = "running-on-kubernetes.html#configuration";
const YARN: &str = "running-on-yarn.html#configuration";
const HISTORY: &str = "monitoring.html#spark-history-server-configuration-options";
const ACCESS: &str = "security.html#authentication-and-authorization";
const HEADERS: &str = "security.html#http-security-headers";
const TUNING: &str = "sql-performance-tuning.html";
const ANSI: &str = "sql-ref-ansi-compliance.html";
const PARQUET: &str = "sql-data-sources-parquet.html#configuration";
const ORC: &str = "sql-data-sources-orc.html#configuration";
const AVRO: &str = "sql-data-sources-avro.html#configuration";
const METASTORE: &str = "sql-data-sources-hive-tables.html#interacting-with-different-versions-of-hive-metastore";
const CLOUD: &str = "cloud-integration.html";

/// Beginnings of keys and whole keys, with their page; the longest that fits decides. A beginning stands for what is
/// public below it, a whole key also for a setting that Spark calls internal and documents all the same.
const PAGES: [(&str, &str); 155] = [
    ("spark.acls.enable", ACCESS),
    ("spark.admin.", ACCESS),
    ("spark.api.mode", "app-dev-spark-connect.html"),
    ("spark.app.name", APPLICATION),
    ("spark.archives", RUNTIME),
    ("spark.authenticate", "security.html#authentication"),
    ("spark.authenticate.", "security.html#authentication"),
    ("spark.barrier.", BARRIER),
    ("spark.blockManager.port", NETWORKING),
    ("spark.broadcast.", EXECUTION),
    ("spark.broadcast.compress", SERIALIZATION),
    ("spark.checkpoint.", SERIALIZATION),
    ("spark.cleaner.", MEMORY),
    ("spark.connect.", "configuration.html#spark-connect"),
    ("spark.cores.max", SCHEDULING),
    ("spark.decommission.enabled", APPLICATION),
    ("spark.default.parallelism", EXECUTION),
    ("spark.deploy.", STANDALONE),
    ("spark.driver.", APPLICATION),
    ("spark.driver.bindAddress", NETWORKING),
    ("spark.driver.blockManager.port", NETWORKING),
    ("spark.driver.defaultJavaOptions", RUNTIME),
    ("spark.driver.extraClassPath", RUNTIME),
    ("spark.driver.extraJavaOptions", RUNTIME),
    ("spark.driver.extraLibraryPath", RUNTIME),
    ("spark.driver.host", NETWORKING),
    ("spark.driver.port", NETWORKING),
    ("spark.driver.userClassPathFirst", RUNTIME),
    ("spark.dynamicAllocation.", "configuration.html#dynamic-allocation"),
    ("spark.eventLog.", UI),
    ("spark.eventLog.gcMetrics.", EXECUTOR_METRICS),
    ("spark.eventLog.logStageExecutorMetrics", EXECUTOR_METRICS),
    ("spark.excludeOnFailure.", SCHEDULING),
    ("spark.executor.", APPLICATION),
    ("spark.executor.cores", EXECUTION),
    ("spark.executor.defaultJavaOptions", RUNTIME),
    ("spark.executor.extraClassPath", RUNTIME),
    ("spark.executor.extraJavaOptions", RUNTIME),
    ("spark.executor.extraLibraryPath", RUNTIME),
    ("spark.executor.heartbeatInterval", EXECUTION),
    ("spark.executor.instances", YARN),
    ("spark.executor.logs.", RUNTIME),
    ("spark.executor.metrics.", EXECUTOR_METRICS),
    ("spark.executor.processTreeMetrics.", EXECUTOR_METRICS),
    ("spark.executor.userClassPathFirst", RUNTIME),
    ("spark.executorEnv.", RUNTIME),
    ("spark.extraListeners", APPLICATION),
    ("spark.files", RUNTIME),
    ("spark.files.", EXECUTION),
    ("spark.files.fetchTimeout", EXECUTION),
    ("spark.files.overwrite", EXECUTION),
    ("spark.files.useFetchCache", EXECUTION),
    ("spark.hadoop.cloneConf", EXECUTION),
    ("spark.hadoop.fs.s3a.committer.magic.enabled", CLOUD),
    ("spark.hadoop.fs.s3a.committer.name", CLOUD),
    ("spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version", EXECUTION),
    ("spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a", CLOUD),
    ("spark.hadoop.validateOutputSpecs", EXECUTION),
    ("spark.history.", HISTORY),
    ("spark.history.ui.acls.", ACCESS),
    ("spark.history.ui.admin.", ACCESS),
    ("spark.io.compression.", SERIALIZATION),
    ("spark.io.encryption.", "security.html#local-storage-encryption"),
    ("spark.jars", RUNTIME),
    ("spark.jars.", RUNTIME),
    ("spark.kerberos.", "security.html#kerberos"),
    ("spark.kryo.", SERIALIZATION),
    ("spark.kryoserializer.", SERIALIZATION),
    ("spark.kubernetes.", KUBERNETES),
    ("spark.local.dir", APPLICATION),
    ("spark.locality.", SCHEDULING),
    ("spark.log.", APPLICATION),
    ("spark.logConf", APPLICATION),
    ("spark.master", APPLICATION),
    ("spark.master.", STANDALONE),
    ("spark.memory.", MEMORY),
    ("spark.mesos.", "running-on-mesos.html#configuration"),
    ("spark.metrics.", "monitoring.html#metrics"),
    ("spark.modify.", ACCESS),
    ("spark.network.", NETWORKING),
    ("spark.network.crypto.", "security.html"),
    ("spark.port.maxRetries", NETWORKING),
    ("spark.pyspark.", RUNTIME),
    ("spark.python.", RUNTIME),
    ("spark.r.", "configuration.html"),
    ("spark.rdd.compress", SERIALIZATION),
    ("spark.redaction.", RUNTIME),
    ("spark.reducer.", SHUFFLE),
    ("spark.resources.discoveryPlugin", APPLICATION),
    ("spark.rpc.", NETWORKING),
    ("spark.scheduler.", SCHEDULING),
    ("spark.scheduler.barrier.", BARRIER),
    ("spark.security.", "security.html#kerberos"),
    ("spark.serializer", SERIALIZATION),
    ("spark.serializer.", SERIALIZATION),
    ("spark.shuffle.", SHUFFLE),
    ("spark.shuffle.maxChunksBeingTransferred", SHUFFLE),
    ("spark.shuffle.push.", PUSH),
    ("spark.shuffle.service.index.cache.size", SHUFFLE),
    ("spark.speculation", SCHEDULING),
    ("spark.speculation.", SCHEDULING),
    ("spark.sql.adaptive.", "sql-performance-tuning.html#adaptive-query-execution"),
    ("spark.sql.ansi.", ANSI),
    ("spark.sql.autoBroadcastJoinThreshold", TUNING),
    ("spark.sql.avro.", AVRO),
    ("spark.sql.avro.datetimeRebaseModeInRead", AVRO),
    ("spark.sql.avro.datetimeRebaseModeInWrite", AVRO),
    ("spark.sql.broadcastTimeout", TUNING),
    ("spark.sql.files.ignoreCorruptFiles", "sql-data-sources-generic-options.html#ignore-corrupt-files"),
    ("spark.sql.files.ignoreMissingFiles", "sql-data-sources-generic-options.html#ignore-missing-files"),
    ("spark.sql.files.maxPartitionBytes", TUNING),
    ("spark.sql.files.maxPartitionNum", TUNING),
    ("spark.sql.files.minPartitionNum", TUNING),
    ("spark.sql.files.openCostInBytes", TUNING),
    ("spark.sql.hive.convertMetastoreOrc", ORC),
    ("spark.sql.hive.convertMetastoreParquet", PARQUET),
    ("spark.sql.hive.metastore.", METASTORE),
    ("spark.sql.inMemoryColumnarStorage.batchSize", TUNING),
    ("spark.sql.inMemoryColumnarStorage.compressed", TUNING),
    ("spark.sql.orc.", ORC),
    ("spark.sql.orc.impl", ORC),
    ("spark.sql.parquet.", PARQUET),
    ("spark.sql.parquet.datetimeRebaseModeInRead", PARQUET),
    ("spark.sql.parquet.datetimeRebaseModeInWrite", PARQUET),
    ("spark.sql.parquet.int96RebaseModeInRead", PARQUET),
    ("spark.sql.parquet.int96RebaseModeInWrite", PARQUET),
    ("spark.sql.parquet.output.committer.class", CLOUD),
    ("spark.sql.shuffle.partitions", TUNING),
    ("spark.sql.sources.commitProtocolClass", CLOUD),
    ("spark.sql.sources.parallelPartitionDiscovery.parallelism", TUNING),
    ("spark.sql.sources.parallelPartitionDiscovery.threshold", TUNING),
    ("spark.sql.storeAssignmentPolicy", ANSI),
    ("spark.ssl.", "security.html#ssl-configuration"),
    ("spark.stage.", SCHEDULING),
    ("spark.standalone.", STANDALONE),
    ("spark.storage.", MEMORY),
    ("spark.storage.decommission.", EXECUTION),
    ("spark.storage.memoryMapThreshold", EXECUTION),
    ("spark.streaming.", "configuration.html#spark-streaming"),
    ("spark.streaming.ui.retainedBatches", UI),
    ("spark.submit.deployMode", APPLICATION),
    ("spark.submit.pyFiles", RUNTIME),
    ("spark.task.", SCHEDULING),
    ("spark.ui.", UI),
    ("spark.ui.prometheus.enabled", UI),
    ("spark.ui.strictTransportSecurity", HEADERS),
    ("spark.ui.view.", ACCESS),
    ("spark.ui.xContentTypeOptions.", HEADERS),
    ("spark.ui.xXssProtection", HEADERS),
    ("spark.user.", ACCESS),
    ("spark.worker.", STANDALONE),
    ("spark.worker.ui.retainedDrivers", UI),
    ("spark.worker.ui.retainedExecutors", UI),
    ("spark.yarn.", YARN),
    ("spark.yarn.appMasterEnv.", YARN),
];

/// Where Spark's documentation describes the setting: of this version, else of the latest, and of the nearest one that
/// has the setting. `None` for settings that no page is known to list (internal ones, vendors', an application's own).
pub fn link(key: &str, version: impl Into<Option<SparkVersion>>) -> Option<String> {
    let version = version.into();
    let facts = setting(key);
    if let Some(main) = facts.and_then(SettingFacts::alternative_of) {
        return page_link(main.key, setting(main.key), version);
    }
    page_link(key, facts, version)
}

fn page_link(key: &str, facts: Option<&SettingFacts>, version: Option<SparkVersion>) -> Option<String> {
    let page = page(key, facts, version.map_or(VersionIndex::NEWEST, nearest))?;
    Some(format!("{SITE}/{}/{page}", edition(facts, version)))
}

fn page(key: &str, facts: Option<&SettingFacts>, version: VersionIndex) -> Option<&'static str> {
    let public = match facts {
        Some(facts) => facts.public(version),
        None => family(key).is_some_and(documented),
    };
    let fits = |start: &str| key == start || (public && start.ends_with('.') && key.starts_with(start));
    let listed = PAGES.iter().filter(|(start, _)| fits(start)).max_by_key(|(start, _)| start.len());
    let listed = listed.map(|&(_, page)| page);
    listed.or_else(|| facts.filter(|_| public).and_then(|facts| sql_page(facts, version)))
}

/// Spark generates two tables of all public SQL settings.
fn sql_page(facts: &SettingFacts, version: VersionIndex) -> Option<&'static str> {
    match facts.scope(version)? {
        Scope::SqlRuntime => Some(RUNTIME_SQL),
        Scope::SqlStatic => Some(STATIC_SQL),
        Scope::Core => None,
    }
}

/// Whether Spark's own pages describe the names of this family.
fn documented(family: Family) -> bool {
    use Family::{Environment, Kubernetes, ListenerQueue, Resource, Ssl, Transport};
    matches!(family, Environment | Kubernetes | ListenerQueue | Resource | Ssl | Transport)
}

/// The directory of the documentation that has the setting: that of `version` if it has it.
fn edition(facts: Option<&SettingFacts>, version: Option<SparkVersion>) -> String {
    let known = facts.and_then(|facts| facts.declared_in().or(facts.raw_in())).unwrap_or(Releases::ALL);
    let version = version.filter(|version| !is_newer_than_known(*version));
    match version {
        None if known.last == VersionIndex::NEWEST => "latest".to_owned(),
        None => known.last.version().to_string(),
        Some(version) if facts.is_none_or(|facts| facts.present(version)) => published(version).to_string(),
        Some(version) => nearest(version).clamp(known.first, known.last).version().to_string(),
    }
}

fn is_newer_than_known(version: SparkVersion) -> bool {
    let newest = VersionIndex::NEWEST.version();
    (version.major, version.minor) > (newest.major, newest.minor)
}

/// Spark 3.1.0 was withdrawn: its documentation begins with 3.1.1.
fn published(version: SparkVersion) -> SparkVersion {
    if version == SparkVersion::new(3, 1, 0) { SparkVersion::new(3, 1, 1) } else { version }
}

#[cfg(test)]
mod tests {
    use super::{PAGES, link};
    use crate::catalog::SparkVersion;

    const V35: SparkVersion = SparkVersion::new(3, 5, 1);

    fn latest(key: &str) -> String {
        let link = link(key, None).unwrap_or_default();
        link.strip_prefix("https://spark.apache.org/docs/latest/").unwrap_or(&link).to_owned()
    }

    #[test]
    fn pages_are_sorted_and_unlike() {
        assert!(PAGES.is_sorted_by(|(one, _), (next, _)| one < next));
    }

    #[test]
    fn the_longest_beginning_decides() {
        for (key, page) in [
            ("spark.executor.memory", "configuration.html#application-properties"),
            ("spark.executor.extraJavaOptions", "configuration.html#runtime-environment"),
            ("spark.executor.cores", "configuration.html#execution-behavior"),
            ("spark.storage.decommission.enabled", "configuration.html#execution-behavior"),
            ("spark.shuffle.push.enabled", "configuration.html#push-based-shuffle-overview"),
            ("spark.master", "configuration.html#application-properties"),
            ("spark.master.rest.port", "spark-standalone.html"),
            ("spark.speculation", "configuration.html#scheduling"),
            ("spark.speculation.quantile", "configuration.html#scheduling"),
            ("spark.sql.adaptive.enabled", "sql-performance-tuning.html#adaptive-query-execution"),
            ("spark.sql.parquet.compression.codec", "sql-data-sources-parquet.html#configuration"),
            ("spark.history.fs.logDirectory", "monitoring.html#spark-history-server-configuration-options"),
        ] {
            assert_eq!(latest(key), page, "{key}");
        }
    }

    #[test]
    fn other_public_sql_settings_stand_in_the_tables_of_their_scope() {
        assert_eq!(latest("spark.sql.session.timeZone"), "configuration.html#runtime-sql-configuration");
        assert_eq!(latest("spark.sql.warehouse.dir"), "configuration.html#static-sql-configuration");
    }

    #[test]
    fn settings_that_no_page_lists_have_no_link() {
        for key in ["spark.sql.codegen.wholeStage", "spark.shuffle.minNumPartitionsToHighlyCompress", "spark.myteam.x"]
        {
            assert_eq!(link(key, None), None, "{key}");
        }
        assert_eq!(link("spark.databricks.delta.optimizeWrite.enabled", None), None, "a vendor's own");
        assert!(link("spark.sql.parquet.int96RebaseModeInRead", V35).is_some(), "internal, but documented by name");
    }

    #[test]
    fn free_names_have_the_page_of_their_family() {
        assert_eq!(latest("spark.kubernetes.driver.label.team"), "running-on-kubernetes.html#configuration");
        assert_eq!(latest("spark.executorEnv.TZ"), "configuration.html#runtime-environment");
        assert_eq!(latest("spark.shuffle.io.maxRetries"), "configuration.html#shuffle-behavior");
        assert_eq!(latest("spark.yarn.executor.memoryOverhead"), latest("spark.executor.memoryOverhead"));
    }

    #[test]
    fn the_edition_is_the_version_that_has_the_setting() {
        let edition = |key, version: Option<SparkVersion>| {
            let link = link(key, version).unwrap_or_default();
            link.split('/').nth(4).unwrap_or_default().to_owned()
        };
        assert_eq!(edition("spark.executor.memory", Some(V35)), "3.5.1");
        assert_eq!(edition("spark.executor.memory", None), "latest");
        assert_eq!(edition("spark.executor.memory", Some(SparkVersion::new(99, 0, 0))), "latest");
        assert_eq!(edition("spark.executor.memory", Some(SparkVersion::new(3, 1, 0))), "3.1.1");
        assert_eq!(edition("spark.api.mode", Some(V35)), "4.0.5", "younger than the version");
        assert_eq!(edition("spark.mesos.coarse", None), "3.5.9", "gone since");
    }
}
