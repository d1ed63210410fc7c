//! Facts on every Spark setting by version. No opinion, no text of Spark's documentation.
//!
//! Promises: looking a name up costs a hash; the embedded table is read once, on first use.

mod complete;
mod facts;
mod family;
mod links;
pub mod notes;
mod raw;
mod release;
mod retired;
mod similar;
mod table;
mod version;

pub use complete::{Completion, Completions, Standing, complete};
pub use facts::{Bounds, ByteUnit, CaseFold, Default, Kind, Limit, MainKey, Removed, Scope, SettingFacts, TimeUnit};
pub use family::{Family, FreeName, family, family_name_near, free_names};
pub use links::link;
pub use raw::raw_kind;
pub use release::{Releases, VERSIONS, VersionIndex, nearest};
pub use retired::{Retired, retired};
pub use similar::{similar, similar_word};
pub use version::SparkVersion;

/// The facts on this key; `None` if no Spark version since 3.0 reads it by this exact name.
pub fn setting(name: &str) -> Option<&'static SettingFacts> {
    table::Table::get().find(name)
}

/// Every setting that is known, sorted by name; names that only begin others (`spark.hadoop.`) are among them, see
/// [`SettingFacts::is_prefix`].
pub fn settings() -> impl Iterator<Item = &'static SettingFacts> {
    table::Table::get().settings.iter()
}
