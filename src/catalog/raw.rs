//! Types of settings that Spark reads without declaring them, by the getter that its code calls.

use super::facts::{ByteUnit, Kind, TimeUnit};

/// What Spark's code parses the value of an undeclared key into; [`Kind::Untyped`] where that is not known.
pub fn raw_kind(key: &str) -> Kind {
    if let Some((module, leaf)) = key.split_once(".io.") {
        return match module {
            "spark.shuffle" | "spark.rpc" | "spark.network" | "spark.files" => transport_kind(leaf),
            _ => Kind::Untyped,
        };
    }
    match key {
        "spark.files.overwrite"
        | "spark.files.useFetchCache"
        | "spark.hadoop.cloneConf"
        | "spark.hadoop.outputCommitCoordination.enabled"
        | "spark.hadoop.validateOutputSpecs"
        | "spark.logConf"
        | "spark.logLineage"
        | "spark.network.sasl.serverAlwaysEncrypt"
        | "spark.network.sharedByteBufAllocators.enabled"
        | "spark.ssl.rpc.enabled"
        | "spark.streaming.stopSparkContextByDefault" => Kind::Boolean,
        "spark.callstack.depth"
        | "spark.graphx.pregel.checkpointInterval"
        | "spark.network.crypto.authEngineVersion"
        | "spark.network.crypto.ivLength"
        | "spark.network.crypto.keyFactoryIterations"
        | "spark.network.crypto.keyLength"
        | "spark.port.maxRetries"
        | "spark.resultGetter.threads"
        | "spark.streaming.blockQueueSize"
        | "spark.streaming.receiverRestartDelay" => Kind::Int,
        "spark.shuffle.maxChunksBeingTransferred" => Kind::Long,
        "spark.files.fetchTimeout" | "spark.network.auth.rpcTimeout" => Kind::Time(TimeUnit::Seconds),
        "spark.starvation.timeout" => Kind::Time(TimeUnit::Milliseconds),
        "spark.network.sasl.maxEncryptedBlockSize"
        | "spark.network.ssl.maxEncryptedBlockSize"
        | "spark.shuffle.service.index.cache.size" => Kind::Bytes(ByteUnit::Byte),
        _ => Kind::Untyped,
    }
}

/// Settings of a network module, `spark.<module>.io.*`.
pub(super) const TRANSPORT: [&str; 16] = [
    "backLog",
    "clientThreads",
    "connectionCreationTimeout",
    "connectionTimeout",
    "enableTcpKeepAlive",
    "enableVerboseMetrics",
    "lazyFD",
    "maxRetries",
    "mode",
    "numConnectionsPerPeer",
    "preferDirectBufs",
    "receiveBuffer",
    "retryWait",
    "sendBuffer",
    "serverThreads",
    "threads",
];

fn transport_kind(leaf: &str) -> Kind {
    match leaf {
        "backLog" | "clientThreads" | "maxRetries" | "numConnectionsPerPeer" | "serverThreads" | "threads" => Kind::Int,
        "connectionCreationTimeout" | "connectionTimeout" | "retryWait" => Kind::Time(TimeUnit::Seconds),
        "enableTcpKeepAlive" | "enableVerboseMetrics" | "lazyFD" | "preferDirectBufs" => Kind::Boolean,
        "receiveBuffer" | "sendBuffer" => Kind::Bytes(ByteUnit::Byte),
        _ => Kind::Untyped,
    }
}
