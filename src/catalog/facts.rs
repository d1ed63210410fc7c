//! What is known of one setting.

use super::raw;
use super::release::{Releases, Runs, VersionIndex};
use super::{SparkVersion, setting};

/// The unit of a size that is written without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ByteUnit {
    Byte,
    KiB,
    MiB,
}

impl ByteUnit {
    /// Bytes in one of it.
    pub fn bytes(self) -> i64 {
        match self {
            Self::Byte => 1,
            Self::KiB => 1 << 10,
            Self::MiB => 1 << 20,
        }
    }

    /// The suffix that spells it out: `b`, `k`, `m`.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Byte => "b",
            Self::KiB => "k",
            Self::MiB => "m",
        }
    }
}

/// The unit of a duration that is written without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TimeUnit {
    Nanoseconds,
    Milliseconds,
    Seconds,
    Minutes,
}

impl TimeUnit {
    /// Nanoseconds in one of it.
    pub fn nanoseconds(self) -> i64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60_000_000_000,
        }
    }

    /// Its name as a word: `milliseconds`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "nanoseconds",
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
        }
    }
}

/// What Spark parses a value into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// 32 bits, signed.
    Int,
    /// 64 bits, signed.
    Long,
    /// Floating point.
    Double,
    /// Exact decimal.
    Decimal,
    /// Any text, or one of [`SettingFacts::allowed`].
    String,
    /// Texts between commas.
    StringList,
    /// Longs between commas.
    LongList,
    /// A size; the unit is that of a bare number and of [`SettingFacts::bounds`].
    Bytes(ByteUnit),
    /// A duration; the unit is that of a bare number and of [`SettingFacts::bounds`].
    Time(TimeUnit),
    /// A Java regular expression.
    Regex,
    /// One of [`SettingFacts::allowed`].
    Enum,
    /// No declared type: whatever reads the text decides.
    Untyped,
}

/// Where a setting is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The application: fixed once it starts.
    Core,
    /// A SQL session: may change at run time.
    SqlRuntime,
    /// All SQL sessions: fixed once the first one starts.
    SqlStatic,
}

/// The value of a setting that nobody sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Default {
    /// This text.
    Value(&'static str),
    /// None: the setting is optional.
    Unset,
    /// Depends on the machine; the text says how.
    Symbolic(&'static str),
    /// The value of this other key.
    Fallback(&'static str),
    /// Read as raw text by code that has its own default.
    Unknown,
    /// This Spark version doesn't have the setting.
    Absent,
}

/// One end of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// In the setting's own unit.
    pub value: f64,
    /// Whether the value itself is accepted.
    pub inclusive: bool,
}

/// The numbers that Spark's own check accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The lower end.
    pub min: Option<Limit>,
    /// The upper end.
    pub max: Option<Limit>,
}

impl Bounds {
    /// Whether `value` is not below the lower end.
    pub fn admits_from_below(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value > min.value || (min.inclusive && value == min.value))
    }

    /// Whether `value` is not above the upper end.
    pub fn admits_from_above(&self, value: f64) -> bool {
        self.max.is_none_or(|max| value < max.value || (max.inclusive && value == max.value))
    }

    /// Whether `value` lies between the ends.
    pub fn admits(&self, value: f64) -> bool {
        self.admits_from_below(value) && self.admits_from_above(value)
    }
}

/// How a value's case is changed before it is compared with the allowed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CaseFold {
    Lower,
    Upper,
}

/// The setting that an older name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MainKey {
    /// The name that Spark reads today.
    pub key: &'static str,
    /// The Spark version that renamed it; `None` where the table doesn't say.
    pub since: Option<&'static str>,
    /// Whether Spark converts the old name's value (other unit) instead of reading it as it is.
    pub translates: bool,
}

/// A setting that Spark refuses unless it has one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Removed {
    /// The Spark version that removed it.
    pub since: &'static str,
    /// The only value that is still accepted: the behaviour that stayed.
    pub accepted: &'static str,
}

/// What is known of one setting. Accessors by version take a [`SparkVersion`] or a [`VersionIndex`]; facts other than
/// the default answer for versions without the setting with those of the nearest version that has it.
#[derive(Debug, Clone)]
pub struct SettingFacts {
    pub(super) name: &'static str,
    pub(super) defaults: Runs<Default>,
    pub(super) kinds: Runs<Kind>,
    pub(super) scopes: Runs<Scope>,
    pub(super) since: Runs<&'static str>,
    pub(super) internal: Runs<()>,
    pub(super) allowed: Runs<Vec<&'static str>>,
    pub(super) folds: Runs<CaseFold>,
    pub(super) bounds: Runs<Bounds>,
    pub(super) alternatives: Runs<Vec<&'static str>>,
    pub(super) prepended: Runs<&'static str>,
    pub(super) raw: Option<Releases>,
    pub(super) main: Option<MainKey>,
    pub(super) deprecated: Option<&'static str>,
    pub(super) removed: Option<Removed>,
}

impl SettingFacts {
    /// The key.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether Spark declares it with a type in any version; if not, code reads it as raw text.
    pub fn registered(&self) -> bool {
        !self.defaults.0.is_empty()
    }

    /// Whether this version declares it with a type.
    pub fn registered_in(&self, v: impl Into<VersionIndex>) -> bool {
        self.defaults.exactly(v.into()).is_some()
    }

    /// Whether this version reads it: declared, as raw text, or as raw text before it was declared.
    pub fn present(&self, v: impl Into<VersionIndex>) -> bool {
        let v = v.into();
        self.registered_in(v) || self.raw.is_some_and(|raw| raw.contains(v)) || self.raw_before_declared(v)
    }

    /// The value in this version if nobody sets it.
    pub fn default(&self, v: impl Into<VersionIndex>) -> Default {
        let v = v.into();
        match self.defaults.exactly(v) {
            Some(&default) => default,
            None if self.present(v) => Default::Unknown,
            None => Default::Absent,
        }
    }

    /// What Spark parses the value into. An older name has the kind of its main key, as far as its value is read as is.
    pub fn kind(&self, v: impl Into<VersionIndex>) -> Kind {
        let v = v.into();
        match (self.kinds.around(v), self.main) {
            (Some(&kind), _) => kind,
            (None, Some(main)) if !main.translates => setting(main.key).map_or(Kind::Untyped, |main| main.kind(v)),
            (None, _) => raw::raw_kind(self.name),
        }
    }

    /// Where it is in force; `None` for raw names.
    pub fn scope(&self, v: impl Into<VersionIndex>) -> Option<Scope> {
        self.scopes.around(v.into()).copied()
    }

    /// Whether it is a SQL setting that can't change at run time.
    pub fn is_static(&self, v: impl Into<VersionIndex>) -> bool {
        self.scope(v) == Some(Scope::SqlStatic)
    }

    /// The Spark version that introduced it, as Spark declares it; `None` where Spark doesn't say.
    pub fn since(&self) -> Option<&'static str> {
        self.since_in(VersionIndex::NEWEST)
    }

    /// The Spark version that introduced it, as this version declares it.
    pub fn since_in(&self, v: impl Into<VersionIndex>) -> Option<&'static str> {
        self.since.around(v.into()).copied().filter(|since| !since.is_empty())
    }

    /// Whether it is meant for users.
    pub fn public(&self, v: impl Into<VersionIndex>) -> bool {
        self.registered() && self.internal.exactly(self.declared_near(v.into())).is_none()
    }

    /// The numbers that Spark accepts, in the setting's own unit; `None` if Spark doesn't check.
    pub fn bounds(&self, v: impl Into<VersionIndex>) -> Option<Bounds> {
        self.bounds.exactly(self.declared_near(v.into())).copied()
    }

    /// The values that Spark accepts; empty if it doesn't check.
    pub fn allowed(&self, v: impl Into<VersionIndex>) -> &[&'static str] {
        self.allowed.exactly(self.declared_near(v.into())).map_or(&[], Vec::as_slice)
    }

    /// How a value's case changes before Spark compares it; `None` means as written.
    pub fn case_fold(&self, v: impl Into<VersionIndex>) -> Option<CaseFold> {
        self.folds.exactly(self.declared_near(v.into())).copied()
    }

    /// The setting that this older name stands for.
    pub fn alternative_of(&self) -> Option<MainKey> {
        self.main
    }

    /// Older names of this setting that this version reads when the key itself is not set, in order.
    pub fn alternatives(&self, v: impl Into<VersionIndex>) -> &[&'static str] {
        self.alternatives.exactly(self.declared_near(v.into())).map_or(&[], Vec::as_slice)
    }

    /// The key whose value this version puts in front of the value of this one.
    pub fn prepended_key(&self, v: impl Into<VersionIndex>) -> Option<&'static str> {
        self.prepended.exactly(self.declared_near(v.into())).copied()
    }

    /// The Spark version that deprecated it.
    pub fn deprecated_in(&self) -> Option<&'static str> {
        self.deprecated
    }

    /// When Spark removed it, and the only value it still accepts.
    pub fn removed_in(&self) -> Option<Removed> {
        self.removed
    }

    /// The releases that read it as raw text without declaring it.
    pub fn raw_in(&self) -> Option<Releases> {
        self.raw
    }

    /// The releases that declare it; `None` for raw names.
    pub fn declared_in(&self) -> Option<Releases> {
        let (first, last) = (self.defaults.0.first()?.0.first, self.defaults.0.last()?.0.last);
        Some(Releases { first, last })
    }

    /// The default by runs of releases, oldest first; releases without the setting are left out.
    pub fn history(&self) -> &[(Releases, Default)] {
        &self.defaults.0
    }

    /// Code read some keys as raw text for years before they were declared; their `since` tells. A key with an older
    /// name inherits that one's `since`, which says nothing of the new name.
    fn raw_before_declared(&self, v: VersionIndex) -> bool {
        let Some(declared) = self.declared_in() else { return false };
        let since = self.since_in(declared.first).and_then(|since| since.parse::<SparkVersion>().ok());
        v < declared.first
            && self.alternatives(declared.first).is_empty()
            && since.is_some_and(|since| v.version().at_least(since.major, since.minor))
    }

    /// `v`, or the nearest release that declares the setting.
    fn declared_near(&self, v: VersionIndex) -> VersionIndex {
        self.declared_in().map_or(v, |declared| v.clamp(declared.first, declared.last))
    }
}
