//! A folder with its settings, Spark version, properties files and runs. The only room that reads a user's files.

mod document;
mod files;
mod launches;
mod notebook;
mod per_path;
mod project;
mod runs;
mod settings;
mod sources;
mod version;

pub use document::{Kind, analyse, analyse_file, confs, facts, facts_in, holds_spark_keys, layers, line_of, link_runs};
pub use files::files;
pub use launches::{Affected, Launch, job_at};
pub use notebook::{Joined, Notebook, parsed};
pub use project::{Problem, Project, VersionSource};
pub use runs::{Stamp, logs};
pub use settings::{Settings, problems as settings_problems};
pub use sources::{Source, Sources};
pub use version::{pinned_at, version_set_at};
