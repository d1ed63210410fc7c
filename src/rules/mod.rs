//! The rules, one file each, and what they report.
//!
//! `conf/` looks at settings, `code/` at static plans, `run/` at runs. Adding a rule is one file, one word in [`ALL`]'s
//! list of its folder, one fixture: see CONTRIBUTING.md.

pub mod code;
pub mod conf;
pub mod context;
pub mod declare;
pub mod finding;
pub mod fix;
pub mod in_force;
mod page;
pub mod run;
pub mod templates;
pub mod verdict;

pub use context::{
    CodeContext, Environment, Level, RuleSettings, RunContext, RunView, SettingsContext, Shared, Vendor,
};
pub use declare::{Check, Group, Rule, RuleOption};
pub use finding::{Confidence, Edit, Evidence, Finding, Fix, FixKind, Related, Severity};
pub use templates::refactorings;
pub use verdict::{MeasuredRun, State, Subject, Verdict};

/// Every rule, in the order of its folder's list.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    conf::RULES.iter().chain(code::RULES).chain(run::RULES).copied()
}

/// The rule with this slug.
pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// Lists the rules of a folder: `rules! { module::STATIC, ... }` declares the modules and the list.
macro_rules! rules {
    ($($module:ident :: $id:ident),* $(,)?) => {
        $(mod $module;)*
        /// The rules of this folder, sorted by module.
        pub static RULES: &[&crate::rules::Rule] = &[$(&$module::$id),*];
    };
}
pub(crate) use rules;
