//! Settings held against what Spark itself made of the same files and values.
//!
//! The tables in `tests/fixtures/conf/` were written by running Spark; each row is one case.
#![allow(clippy::unwrap_used)]

mod effective;
mod properties;
mod values;
