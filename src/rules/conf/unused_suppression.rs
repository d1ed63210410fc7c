//! Comments to sparkls that ignore nothing.

use crate::declare_rule;
use crate::rules::SettingsContext;

declare_rule! {
    /// A comment that ignores a rule where it finds nothing, or a rule that there is not.
    ///
    /// ## Why
    /// `# sparkls: ignore[...]` that outlived its finding hides the next one, which may be a real one, and says to the reader that
    /// something is wrong here. One with a misspelt name, or without any, never did anything.
    ///
    /// ## Silent when
    /// - the rule is off: nobody knows whether it would find something
    /// - the rule looks at runs, and no run is linked
    /// - the comment names `unused-suppression` too
    ///
    /// ## Example
    /// ```python
    /// rows = spark.table("shops").limit(40).collect()  # sparkls: ignore[collect-unbounded]  # finding
    /// spark.table("shops").collect()  # sparkls: ignore[collect-unbuonded]  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// rows = spark.table("shops").limit(40).collect()
    /// spark.table("shops").collect()  # sparkls: ignore[collect-unbounded]
    /// ```
    ///
    /// ## Sources
    /// - [Switching a rule off in one place](../settings.md#switching-a-rule-off-in-one-place)
    pub UNUSED_SUPPRESSION = {
        name: "unused-suppression", group: Carriers, severity: Hint, confidence: Documented,
        since: "0.1.0", check: Settings(check),
    }
}

/// What a comment ignored is known when every rule has spoken: the analysis reports it.
fn check(_: &mut SettingsContext<'_>) {}
