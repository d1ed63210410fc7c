//! How a rule is declared: one static, whose documentation is its doc comment.

use super::context::{CodeContext, RunContext, SettingsContext};
use super::{Confidence, Severity, Verdict};

/// What a rule looks at.
#[derive(Clone, Copy)]
pub enum Check {
    /// The settings written in one document, whatever its kind.
    Settings(fn(&mut SettingsContext<'_>)),
    /// The static plan of one Python file.
    Code(fn(&mut CodeContext<'_>)),
    /// One run.
    Run(fn(&RunContext<'_>) -> Vec<Verdict>),
}

/// Groups of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Values of settings.
    Settings,
    /// Where and how settings are written.
    Carriers,
    /// Actions that bring data to the driver or start jobs.
    Driver,
    /// The shape of the plan.
    Plan,
    /// Reuse and caching.
    Cache,
    /// Joins and skew.
    Joins,
    /// Partitions and writes.
    Partitions,
    /// Reads.
    Reads,
    /// Python that runs on rows.
    Udfs,
    /// Windows and aggregates.
    Windows,
    /// Structured streaming.
    Streaming,
    /// Results that may be wrong, and secrets in code.
    Correctness,
    /// What a run measured.
    Run,
}

/// An option of a rule, set in `sparkls.toml` under `[rules.<slug>]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleOption {
    /// Its name, in kebab case.
    pub name: &'static str,
    /// Its default; all options are numbers.
    pub default: f64,
    /// What it does, with its unit.
    pub help: &'static str,
}

/// A rule, as declared by [`declare_rule!`](crate::declare_rule).
pub struct Rule {
    /// Its only name: in diagnostics, suppressions, settings and documentation.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// The severity of its plain case.
    pub severity: Severity,
    /// Off unless asked for.
    pub off: bool,
    /// Where its knowledge comes from.
    pub confidence: Confidence,
    /// Its documentation in Markdown; the first line is the summary.
    pub docs: &'static str,
    /// The sparkls version that brought it.
    pub since: &'static str,
    /// Its options.
    pub options: &'static [RuleOption],
    /// What it looks at.
    pub check: Check,
    /// The source file.
    pub file: &'static str,
}

impl Rule {
    /// The first line of the documentation.
    pub fn summary(&self) -> &'static str {
        self.docs.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }
}

/// Declares a rule. The doc comment is its documentation, with these headings in this order:
/// a one-line summary, `## Why`, `## Silent when`, `## Example` (a code block whose finding lines end in `# finding`),
/// `## Use instead` (a code block without finding), `## Sources`.
///
/// ```ignore
/// declare_rule! {
///     /// `collect()` without a bound on its rows.
///     /// ## Why
///     /// ...
///     pub COLLECT_UNBOUNDED = {
///         name: "collect-unbounded", group: Driver, severity: Warning, confidence: Documented,
///         since: "0.1.0", check: Code(check),
///     }
/// }
/// ```
#[macro_export]
macro_rules! declare_rule {
    (
        $(#[doc = $doc:expr])*
        pub $id:ident = {
            name: $name:literal, group: $group:ident, severity: $severity:ident, confidence: $confidence:ident,
            since: $since:literal, $(off: $off:literal,)? $(options: [$(($option:literal, $default:expr, $help:literal)),* $(,)?],)?
            check: $kind:ident($check:path) $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[allow(unreachable_pub)] // the modules of rules are private, their statics are listed next to them
        pub static $id: $crate::rules::Rule = $crate::rules::Rule {
            name: $name,
            group: $crate::rules::Group::$group,
            severity: $crate::rules::Severity::$severity,
            off: false $(|| $off)?,
            confidence: $crate::rules::Confidence::$confidence,
            docs: concat!($($doc, "\n"),*),
            since: $since,
            options: &[$($($crate::rules::RuleOption { name: $option, default: $default, help: $help }),*)?],
            check: $crate::rules::Check::$kind($check),
            file: file!(),
        };
    };
}
