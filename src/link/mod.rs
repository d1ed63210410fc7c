//! From a stage of a run to a span of the code, with certainty and reason.

use crate::pyspark::plan::NodeId;
use crate::run::model::StageKey;
use crate::text::Span;

/// How sure a link is; a link below [`Certainty::Likely`] is never painted on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// The file changed since the run: the place was found again by its surroundings.
    Stale,
    /// One of several candidates.
    Candidate,
    /// A clear winner among several.
    Likely,
    /// The only action of its kind with this literal target.
    Unique,
    /// The log names the line.
    Exact,
}

/// What of the run the span belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measured {
    /// A SQL execution.
    Execution(i64),
    /// A job outside SQL.
    Job(u32),
    /// A stage attempt.
    Stage(StageKey),
}

/// A span of the code and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What was measured.
    pub measured: Measured,
    /// The operator's or the action's call: its method name with its receiver's end, as a finding underlines it.
    pub span: Span,
    /// The operator of the static plan, if the span is one.
    pub node: Option<NodeId>,
    /// The action (index into `StaticPlan::actions`) that ran it.
    pub action: Option<usize>,
    /// How sure.
    pub certainty: Certainty,
    /// Why, in a few words ("call site in the log", "only write to out/daily").
    pub reason: String,
}

/// All links of one run into one file, best first for each measured thing.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// The links.
    pub links: Vec<Link>,
    /// What the run did that has no line here, with the reason.
    pub unlinked: Vec<(Measured, String)>,
}

impl Links {
    /// The best link of something measured.
    pub fn best(&self, measured: Measured) -> Option<&Link> {
        self.links.iter().filter(|link| link.measured == measured).max_by_key(|link| link.certainty)
    }
}

/// Links a run to one Python file. `path` is compared with the paths in call sites by their longest common suffix.
pub fn link(run: &crate::run::Run, plan: &crate::pyspark::StaticPlan, text: &str, path: &std::path::Path) -> Links {
    let _ = (run, plan, text, path);
    Links::default()
}
