//! sparkls: static facts, effective configuration and a measured run, on one line of code.
//!
//! The rooms, from the ground up; a room may use only the rooms above it in this list:
//!
//! | room | promises | must not know |
//! | --- | --- | --- |
//! | [`text`] | documents, byte spans, editor positions | Spark, Python, LSP types |
//! | [`catalog`] | facts on Spark's settings and PySpark's API by version | where they are used |
//! | [`conf`] | settings with spans, values as Spark reads them, who wins | rules, editors |
//! | [`pyspark`] | a Python file as a [`pyspark::StaticPlan`] | rules, editors, runs |
//! | [`run`] | a measured run in columns, and its statistics | files, code |
//! | [`eventlog`] | bytes of a log to a [`run::Run`] | code, rules |
//! | [`history`] | runs over time in a file, and what became slower | logs, code, rules |
//! | [`link`] | which stage belongs to which span, with certainty | rules, editors |
//! | [`rules`] | findings, each rule in one file | editors, files |
//! | [`compare`] | what changed between two runs, and whether that is more than noise | files, editors |
//! | [`analysis`] | the one pipeline, a pure function | I/O, locks, editors |
//! | [`workspace`] | documents, settings and runs of a folder; all input from disk | LSP types |
//! | [`lsp`] | the language server | |
//! | [`cli`] | the command line | |

pub mod analysis;
pub mod catalog;
pub mod cli;
pub mod compare;
pub mod conf;
pub mod eventlog;
pub mod history;
pub mod link;
pub mod lsp;
pub mod pyspark;
pub mod rules;
pub mod run;
pub mod text;
pub mod workspace;
