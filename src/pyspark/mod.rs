//! A Python file as a graph of Spark operators.
//!
//! Promises: types are inferred, never guessed from a method's name alone; what is not known stays unknown and is silent;
//! broken code keeps the facts of the statements around it; nothing panics on any text.
//!
//! The way of a text: `syntax` (tree, edit by edit) → `lower` (own statements and expressions, kept per top-level
//! statement) → `eval` (abstract interpretation with the types of `value` and the methods of `api`) → [`StaticPlan`]. What a
//! file says in SQL goes through `sql` to the same plan; `cells` finds it in comments of notebooks.

pub mod api;
mod bounds;
mod cells;
mod context;
mod details;
mod eval;
mod file;
mod ipython;
mod ir;
mod jobs;
mod kinds;
mod lower;
mod lower_statements;
mod magics;
mod modules;
mod outline;
pub mod plan;
mod scopes;
mod sql;
mod strings;
mod syntax;
mod value;
mod versions;

pub use cells::is_databricks_notebook;
pub use context::{StringContext, StringRole};
pub use file::{NotebookCode, PythonFile, may_use_spark, plan_in, sql_script};
pub use ipython::{code as code_of_cell, loads_other_sql, sql as sql_of_cell};
pub use modules::{Imports, ModulePath, Modules};
pub use outline::{Symbol, SymbolKind};
pub use plan::StaticPlan;
pub(crate) use sql::lookup as sql_lookup;
pub use sql::{SqlDialect, sql_dialect};
