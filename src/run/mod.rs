//! The measured run: tasks in columns, the statistics of `docs/measured.md`, nothing of files and code.

pub mod column;
pub mod keys;
pub mod model;
pub mod plan;
pub mod redact;
pub mod rows;
pub mod shared;
pub mod slots;
pub mod stats;
pub mod summary;

pub use column::Column;
pub use model::Run;
pub use rows::Rows;
pub use shared::{Shared, SharedTexts};
