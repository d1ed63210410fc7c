//! Facts on every Spark setting by version. No opinion, no text of Spark's documentation.

mod version;

pub use version::SparkVersion;
