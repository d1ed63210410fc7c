//! A Python file as a graph of Spark operators.
//!
//! Promises: types are inferred, never guessed from a method's name alone; what is not known stays unknown and is silent;
//! broken code keeps the facts of the statements around it; nothing panics on any text.

mod file;
pub mod plan;

pub use file::{PythonFile, may_use_spark};
pub use plan::StaticPlan;
