//! A folder with its settings, Spark version, properties files and runs. The only room that reads a user's files.

mod project;

pub use project::{Problem, Project, VersionSource};
