//! Values as Spark parses them, and what it refuses.

mod number;
mod repair;

use std::fmt;

use super::units::{Bytes, Millis};
use super::{Carrier, template};
use crate::catalog::{self, ByteUnit, CaseFold, Kind, Scope, SettingFacts, TimeUnit, VersionIndex};

pub use number::{boolean, bytes, double, integer, time};

/// A value as Spark holds it.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A floating point or decimal number.
    Double(f64),
    /// A text, in the case that Spark compares it in.
    Text(String),
    /// Texts between commas, trimmed, without the empty ones.
    List(Vec<String>),
    /// A size: whole units, what was finer is cut off.
    Bytes(i64, ByteUnit),
    /// A duration: whole units, what was finer is cut off.
    Time(i64, TimeUnit),
    /// Holds `${env:X}`, `${system:x}` or `${spark.x}`: known only when Spark reads it.
    Reference,
}

impl Parsed {
    /// The size.
    pub fn bytes(&self) -> Option<Bytes> {
        match self {
            Self::Bytes(amount, unit) => Some(Bytes(amount.saturating_mul(unit.bytes()))),
            _ => None,
        }
    }

    /// The duration, whole milliseconds.
    pub fn millis(&self) -> Option<Millis> {
        match self {
            Self::Time(amount, unit) => {
                let nanoseconds = i128::from(*amount) * i128::from(unit.nanoseconds());
                let bounded = (nanoseconds / 1_000_000).clamp(i64::MIN.into(), i64::MAX.into());
                i64::try_from(bounded).ok().map(Millis)
            }
            _ => None,
        }
    }

    /// The number that [`SettingFacts::bounds`] are about.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) | Self::Bytes(number, _) | Self::Time(number, _) => Some(*number as f64),
            Self::Double(number) => Some(*number),
            Self::Boolean(_) | Self::Text(_) | Self::List(_) | Self::Reference => None,
        }
    }
}

/// Why Spark refuses a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Reason {
    Empty,
    UnknownUnit,
    BlankBeforeUnit,
    Fraction,
    Sign,
    NotBoolean,
    NotInteger,
    NotNumber,
    TooBig,
    NotAllowed,
    BelowMinimum,
    AboveMaximum,
    BrokenRegex,
}

/// A value that Spark refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// Why, as a sentence with the value in it.
    pub message: String,
    /// A value that Spark accepts and that was probably meant.
    pub suggestion: Option<String>,
}

impl Refusal {
    fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), suggestion: None }
    }
}

/// When a refused value comes to light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Noticed {
    /// The application does not start.
    AtStart,
    /// `spark.conf.set` or `SET` fails on its line.
    AtSet,
    /// It starts, and the first query fails.
    AtFirstQuery,
    /// It starts, and the first job fails.
    AtFirstJob,
    /// When the feature reads it, which may be late.
    WhenRead,
    /// The text is stored and nothing looks at it.
    Never,
}

impl fmt::Display for Noticed {
    /// The half of a sentence that follows "Spark refuses it".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtStart => "when the application starts",
            Self::AtSet => "on this line",
            Self::AtFirstQuery => "at the first query",
            Self::AtFirstJob => "at the first job",
            Self::WhenRead => "when it first reads the setting",
            Self::Never => "never: the text is stored and not looked at",
        })
    }
}

/// Core settings that are read while an application starts.
const READ_AT_START: [&str; 19] = [
    "spark.authenticate",
    "spark.driver.maxResultSize",
    "spark.dynamicAllocation.enabled",
    "spark.eventLog.enabled",
    "spark.executor.cores",
    "spark.executor.heartbeatInterval",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.memory.fraction",
    "spark.memory.offHeap.enabled",
    "spark.memory.offHeap.size",
    "spark.memory.storageFraction",
    "spark.network.crypto.enabled",
    "spark.network.timeout",
    "spark.scheduler.mode",
    "spark.shuffle.manager",
    "spark.speculation",
    "spark.task.cpus",
    "spark.ui.enabled",
];

/// Core settings that are read for the first job.
const READ_AT_FIRST_JOB: [&str; 3] =
    ["spark.default.parallelism", "spark.io.compression.codec", "spark.task.maxFailures"];

/// Modules whose settings a session that runs doesn't know, so that it stores any text.
const SET_UNSEEN: [&str; 4] = ["spark.kubernetes.", "spark.yarn.", "spark.mesos.", "spark.streaming."];

/// When Spark notices that it can't use the value of this setting, written in this way.
pub fn noticed(facts: &SettingFacts, carrier: Carrier, version: impl Into<VersionIndex>) -> Noticed {
    let version = version.into();
    let name = facts.name();
    if carrier.at_run_time() {
        let unseen = !facts.registered_in(version) || SET_UNSEEN.iter().any(|module| name.starts_with(module));
        return if unseen { Noticed::Never } else { Noticed::AtSet };
    }
    match facts.scope(version) {
        Some(Scope::SqlRuntime | Scope::SqlStatic) => Noticed::AtFirstQuery,
        _ if READ_AT_START.contains(&name) => Noticed::AtStart,
        _ if READ_AT_FIRST_JOB.contains(&name) => Noticed::AtFirstJob,
        // The JVM that would need it runs already.
        _ if name == "spark.driver.memory" && carrier.is_code() => Noticed::Never,
        _ => Noticed::WhenRead,
    }
}

/// What Spark of this version makes of the text.
pub fn parse(facts: &SettingFacts, version: impl Into<VersionIndex>, text: &str) -> Result<Parsed, Refusal> {
    let version = version.into();
    repaired(text, facts.kind(version), facts.allowed(version), |text| check(facts, version, text))
}

/// What Spark of this version makes of the text under a key that it does not declare: one of a family of names, such as
/// `spark.shuffle.io.maxRetries`.
pub fn parse_raw(key: &str, version: impl Into<VersionIndex>, text: &str) -> Result<Parsed, Refusal> {
    let (version, kind) = (version.into(), catalog::raw_kind(key));
    repaired(text, kind, &[], |text| read(kind, None, version, text))
}

/// The result of `check`; a refusal suggests the first text that was perhaps meant and that passes.
fn repaired(
    text: &str,
    kind: Kind,
    allowed: &[&'static str],
    check: impl Fn(&str) -> Result<Parsed, Refusal>,
) -> Result<Parsed, Refusal> {
    check(text).map_err(|refusal| {
        let passes = |candidate: &String| candidate != text && check(candidate).is_ok();
        let suggestion = repair::candidates(text, kind, allowed).into_iter().find(passes);
        Refusal { suggestion, ..refusal }
    })
}

fn check(facts: &SettingFacts, version: VersionIndex, text: &str) -> Result<Parsed, Refusal> {
    if template::has_reference(text) {
        return Ok(Parsed::Reference);
    }
    let kind = facts.kind(version);
    let declared = facts.registered() || facts.alternative_of().is_some();
    let parsed = read(kind, declared.then_some(facts), version, text)?;
    allowed(facts, version, kind, &parsed, text)?;
    bounds(facts, version, &parsed, text)?;
    Ok(parsed)
}

/// A declared setting is trimmed, and a size may be negative; a raw one is read as it is.
fn read(kind: Kind, declared: Option<&SettingFacts>, version: VersionIndex, text: &str) -> Result<Parsed, Refusal> {
    let trimmed = if declared.is_some() { number::trim(text) } else { text };
    let folded = |text: &str| match declared.and_then(|facts| facts.case_fold(version)) {
        Some(CaseFold::Lower) => text.to_lowercase(),
        Some(CaseFold::Upper) => text.to_uppercase(),
        None => text.to_owned(),
    };
    Ok(match kind {
        Kind::Boolean => Parsed::Boolean(boolean(trimmed)?),
        Kind::Int => Parsed::Integer(integer(trimmed, i32::MIN.into(), i32::MAX.into())?),
        Kind::Long => Parsed::Integer(integer(trimmed, i64::MIN, i64::MAX)?),
        Kind::Double => Parsed::Double(double(trimmed)?),
        Kind::Decimal => Parsed::Double(number::decimal(trimmed)?),
        Kind::Bytes(unit) => match text.strip_prefix('-').filter(|_| declared.is_some()) {
            Some(positive) => Parsed::Bytes(-bytes(positive, unit, version)?, unit),
            None => Parsed::Bytes(bytes(text, unit, version)?, unit),
        },
        Kind::Time(unit) => Parsed::Time(time(text, unit)?, unit),
        Kind::StringList => Parsed::List(parts(text).map(folded).collect()),
        Kind::LongList => {
            for part in parts(text) {
                integer(part, i64::MIN, i64::MAX)?;
            }
            Parsed::List(parts(text).map(str::to_owned).collect())
        }
        Kind::Regex => number::regex(text).map(|()| Parsed::Text(text.to_owned()))?,
        Kind::Enum => Parsed::Text(declared.map_or(trimmed, |facts| named(facts, version, trimmed)).to_owned()),
        Kind::String => Parsed::Text(folded(text)),
        Kind::Untyped => Parsed::Text(text.to_owned()),
    })
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// The allowed value that an enumeration finds for the text, whatever its case.
fn named<'a>(facts: &SettingFacts, version: VersionIndex, text: &'a str) -> &'a str {
    facts.allowed(version).iter().find(|value| value.eq_ignore_ascii_case(text)).map_or(text, |value| value)
}

fn allowed(
    facts: &SettingFacts,
    version: VersionIndex,
    kind: Kind,
    parsed: &Parsed,
    text: &str,
) -> Result<(), Refusal> {
    let values = facts.allowed(version);
    let accepted = match (kind, parsed) {
        _ if values.is_empty() => true,
        (Kind::String | Kind::Enum, Parsed::Text(text)) => values.contains(&text.as_str()),
        (Kind::Int | Kind::Long, Parsed::Integer(number)) => values.contains(&number.to_string().as_str()),
        _ => true,
    };
    if accepted {
        return Ok(());
    }
    let message = format!("`{text}` is not one of {}.", values.join(", "));
    Err(Refusal::new(Reason::NotAllowed, message))
}

fn bounds(facts: &SettingFacts, version: VersionIndex, parsed: &Parsed, text: &str) -> Result<(), Refusal> {
    let (Some(bounds), Some(number)) = (facts.bounds(version), parsed.number()) else { return Ok(()) };
    let shown = |limit: f64| match *parsed {
        Parsed::Bytes(_, unit) => Bytes((limit as i64).saturating_mul(unit.bytes())).to_string(),
        Parsed::Time(_, unit) => format!("{limit} {}", unit.name()),
        _ => limit.to_string(),
    };
    if !bounds.admits_from_below(number) {
        let message = match bounds.min {
            Some(min) if min.inclusive => format!("`{text}` is below the minimum of {}.", shown(min.value)),
            min => format!("`{text}` must be greater than {}.", shown(min.map_or(0.0, |min| min.value))),
        };
        return Err(Refusal::new(Reason::BelowMinimum, message));
    }
    if !bounds.admits_from_above(number) {
        let message = match bounds.max {
            Some(max) if max.inclusive => format!("`{text}` is above the maximum of {}.", shown(max.value)),
            max => format!("`{text}` must be less than {}.", shown(max.map_or(0.0, |max| max.value))),
        };
        return Err(Refusal::new(Reason::AboveMaximum, message));
    }
    Ok(())
}

/// Whether Spark makes the same of both texts: `64m` is `67108864b`. Texts that it refuses are the same only if equal.
pub fn same_value(facts: &SettingFacts, version: impl Into<VersionIndex>, a: &str, b: &str) -> bool {
    let version = version.into();
    let known = |text| check(facts, version, text).ok().filter(|parsed| *parsed != Parsed::Reference);
    a == b || matches!((known(a), known(b)), (Some(a), Some(b)) if a == b)
}
