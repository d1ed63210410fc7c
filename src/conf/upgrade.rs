//! What another Spark version makes of the settings that are written, and of those that nobody writes.
//!
//! Facts come from the catalogue, which knows the last patch of each minor version: two patches of one minor version
//! never differ here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use super::value::{self, Parsed};
use super::{Layer, Value};
use crate::catalog::{self, Default, Kind, Scope, SettingFacts, SparkVersion};

/// What changes between two Spark versions for a set of written settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Upgrade {
    /// The version that the settings were written for.
    pub from: SparkVersion,
    /// The version that they meet.
    pub to: SparkVersion,
    /// Written settings that change, by key.
    pub written: Vec<Written>,
    /// Settings that nobody writes, whose default changes, and whose feature is in use, by key.
    pub relied_on: Vec<NewDefault>,
    /// All other settings whose default changes, by key; internal ones are among them.
    pub others: Vec<NewDefault>,
}

/// How much changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Written settings.
    pub written: usize,
    /// Defaults that what is written relies on.
    pub relied_on: usize,
    /// Other defaults that are meant for users.
    pub others: usize,
}

/// A written setting that changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The key.
    pub key: String,
    /// What changes for the key, whatever its value.
    pub changes: Vec<Change>,
    /// Where it is written, and what becomes of the value there.
    pub places: Vec<Place>,
}

/// One place that sets a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The value and where it is written.
    pub layer: Layer,
    /// How the value stands to a default that changes.
    pub standing: Standing,
    /// What becomes of the value.
    pub fate: Fate,
}

/// How a written value stands to a default that changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It is the default that goes: it keeps the old behaviour.
    OldDefault,
    /// It is the default that comes: it can be left out from then on.
    NewDefault,
    /// It is another value, or not known, or no default changes.
    Own,
}

/// What becomes of a written value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is accepted or refused as before, or not known.
    Same,
    /// It was accepted and is refused; why, as a sentence.
    Refused(String),
    /// It was refused and is accepted.
    Accepted,
}

/// What changes for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The value that holds when nobody sets it.
    Default {
        /// Before.
        old: Default,
        /// After.
        new: Default,
    },
    /// What Spark parses the value into.
    Kind {
        /// Before.
        old: Kind,
        /// After.
        new: Kind,
    },
    /// Where the setting is in force.
    Scope {
        /// Before.
        old: Scope,
        /// After.
        new: Scope,
    },
    /// The key is an older name from then on, and still read.
    Renamed {
        /// The key to use.
        to: &'static str,
        /// Whether Spark converts the value, which counts in another unit.
        translates: bool,
    },
    /// Spark warns of it from this version on.
    Deprecated {
        /// The version, as Spark says it.
        since: &'static str,
    },
    /// Only one value is still accepted.
    Removed {
        /// The version, as Spark says it.
        since: &'static str,
        /// The value.
        accepted: &'static str,
    },
    /// Spark does not read it any more.
    NotRead {
        /// The key to set instead, if there is one.
        instead: Option<&'static str>,
        /// What happened, as a sentence; empty if that is not known.
        why: &'static str,
    },
    /// The old version did not read it, the new one does: it begins to have an effect.
    Read,
}

/// A setting that nobody writes and whose default changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDefault {
    /// The key.
    pub key: &'static str,
    /// The default before.
    pub old: Default,
    /// The default after.
    pub new: Default,
    /// Whether it is meant for users.
    pub public: bool,
    /// Why what is written relies on it; `None` if nothing does.
    pub reason: Option<Reliance>,
}

/// Why written settings rely on the default of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reliance {
    /// Both belong to one feature: the names that start with `prefix`.
    Feature {
        /// `spark.speculation.`
        prefix: String,
        /// A written key of the feature.
        key: String,
    },
    /// In one of the versions its value is that of a written key.
    FallsBack {
        /// The written key.
        key: &'static str,
    },
}

impl Upgrade {
    /// How much changes; defaults of internal settings are not counted among the others.
    pub fn counts(&self) -> Counts {
        Counts {
            written: self.written.len(),
            relied_on: self.relied_on.len(),
            others: self.others.iter().filter(|default| default.public).count(),
        }
    }
}

/// What changes from one Spark version to the other for these settings.
pub fn changes(from: SparkVersion, to: SparkVersion, layers: &[Layer]) -> Upgrade {
    let versions = Versions { from, to };
    let mut by_key: BTreeMap<&str, Vec<&Layer>> = BTreeMap::new();
    for layer in layers {
        by_key.entry(&layer.key).or_default().push(layer);
    }
    let written = by_key.iter().filter_map(|(key, layers)| versions.written(key, layers)).collect();
    let in_use = InUse::new(versions, &by_key);
    let (relied_on, others) = catalog::settings()
        .filter(|facts| !in_use.is_written(facts))
        .filter_map(|facts| {
            let (old, new) = versions.new_default(facts)?;
            let (key, public) = (facts.name(), facts.public(to));
            Some(NewDefault { key, old, new, public, reason: in_use.reason(facts, old, new) })
        })
        .partition(|default| default.reason.is_some());
    Upgrade { from, to, written, relied_on, others }
}

#[derive(Clone, Copy)]
struct Versions {
    from: SparkVersion,
    to: SparkVersion,
}

impl Versions {
    fn written(self, key: &str, layers: &[&Layer]) -> Option<Written> {
        let changes = match catalog::setting(key) {
            Some(facts) => self.of_facts(facts),
            None => self.of_retired(key).into_iter().collect(),
        };
        let places: Vec<Place> = layers.iter().map(|layer| self.place(layer, &changes)).collect();
        let matters = !changes.is_empty() || places.iter().any(|place| place.fate != Fate::Same);
        matters.then(|| Written { key: key.to_owned(), changes, places })
    }

    fn of_facts(self, facts: &'static SettingFacts) -> Vec<Change> {
        let mut changes = Vec::new();
        let (was_read, is_read) = (is_read(facts, self.from), is_read(facts, self.to));
        let main = facts.alternative_of();
        match (was_read, is_read) {
            (true, false) => changes.push(Change::NotRead {
                instead: main
                    .map(|main| main.key)
                    .filter(|key| catalog::setting(key).is_some_and(|f| f.present(self.to))),
                why: catalog::retired(facts.name()).map_or("", |retired| retired.what),
            }),
            (false, true) => changes.push(Change::Read),
            (true, true) if !is_older_name(facts, self.from) && is_older_name(facts, self.to) => {
                changes.extend(main.map(|main| Change::Renamed { to: main.key, translates: main.translates }));
            }
            _ => {}
        }
        if let Some(since) = facts.deprecated_in().filter(|since| self.passes(since)) {
            changes.push(Change::Deprecated { since });
        }
        if let Some(removed) = facts.removed_in().filter(|removed| self.passes(removed.since)) {
            changes.push(Change::Removed { since: removed.since, accepted: removed.accepted });
        }
        if !(facts.registered_in(self.from) && facts.registered_in(self.to)) {
            return changes;
        }
        changes.extend(self.new_default(facts).map(|(old, new)| Change::Default { old, new }));
        let (old, new) = (facts.kind(self.from), facts.kind(self.to));
        if old != new {
            changes.push(Change::Kind { old, new });
        }
        if let (Some(old), Some(new)) = (facts.scope(self.from), facts.scope(self.to))
            && old != new
        {
            changes.push(Change::Scope { old, new });
        }
        changes
    }

    fn of_retired(self, key: &str) -> Option<Change> {
        let retired = catalog::retired(key).filter(|retired| self.passes(retired.since))?;
        Some(Change::NotRead { instead: retired.instead, why: retired.what })
    }

    /// Whether something that happened in a version happens on the way.
    fn passes(self, since: &str) -> bool {
        let minor = |version: SparkVersion| (version.major, version.minor);
        let since = since.parse::<SparkVersion>().map(minor);
        since.is_ok_and(|since| minor(self.from) < since && since <= minor(self.to))
    }

    /// The defaults of a setting that both versions declare, where they differ.
    fn new_default(self, facts: &SettingFacts) -> Option<(Default, Default)> {
        let (old, new) = (facts.default(self.from), facts.default(self.to));
        let is_told = |default| !matches!(default, Default::Absent | Default::Unknown);
        (is_told(old) && is_told(new) && !self.same(facts, old, new)).then_some((old, new))
    }

    fn same(self, facts: &SettingFacts, old: Default, new: Default) -> bool {
        match (old, new) {
            (Default::Value(old), Default::Value(new)) => self.same_value(facts, old, new),
            _ => old == new,
        }
    }

    /// Whether the old version makes of one text what the new one makes of the other.
    fn same_value(self, facts: &SettingFacts, old: &str, new: &str) -> bool {
        let number = |parsed: &Parsed| match parsed {
            Parsed::Integer(number) => Some(*number as f64),
            Parsed::Double(number) => Some(*number),
            _ => None,
        };
        let parsed = (value::parse(facts, self.from, old), value::parse(facts, self.to, new));
        let (Ok(before), Ok(after)) = parsed else { return old == new };
        before == after || number(&before).is_some_and(|before| Some(before) == number(&after))
    }

    fn place(self, layer: &Layer, changes: &[Change]) -> Place {
        let facts = catalog::setting(&layer.key);
        let known = facts.zip(layer.value.literal());
        let standing = known.map_or(Standing::Own, |(facts, text)| self.standing(facts, text, changes));
        let fate = known.map_or(Fate::Same, |(facts, text)| self.fate(facts, text, changes));
        Place { layer: layer.clone(), standing, fate }
    }

    fn standing(self, facts: &SettingFacts, text: &str, changes: &[Change]) -> Standing {
        let defaults = changes.iter().find_map(|change| match change {
            Change::Default { old, new } => Some((*old, *new)),
            _ => None,
        });
        let is = |default, version| match default {
            Default::Value(value) => value::same_value(facts, version, value, text),
            _ => false,
        };
        match defaults {
            Some((old, _)) if is(old, self.from) => Standing::OldDefault,
            Some((_, new)) if is(new, self.to) => Standing::NewDefault,
            _ => Standing::Own,
        }
    }

    fn fate(self, facts: &SettingFacts, text: &str, changes: &[Change]) -> Fate {
        for change in changes {
            match change {
                Change::Removed { accepted, .. } if !text.trim().eq_ignore_ascii_case(accepted) => {
                    return Fate::Refused(format!("`{}` is refused, only `{accepted}` is accepted.", text.trim()));
                }
                Change::NotRead { .. } | Change::Read => return Fate::Same,
                _ => {}
            }
        }
        match (value::parse(facts, self.from, text), value::parse(facts, self.to, text)) {
            (Ok(_), Err(refusal)) => Fate::Refused(refusal.message),
            (Err(_), Ok(_)) => Fate::Accepted,
            _ => Fate::Same,
        }
    }
}

/// Whether the version reads the name, as a key of its own or as an older name of one.
fn is_read(facts: &'static SettingFacts, version: SparkVersion) -> bool {
    facts.present(version) || is_older_name(facts, version)
}

fn is_older_name(facts: &'static SettingFacts, version: SparkVersion) -> bool {
    let main = facts.alternative_of().and_then(|main| catalog::setting(main.key));
    main.is_some_and(|main| {
        main.present(version) && main.older_names(version).any(|older| older.name() == facts.name())
    })
}

/// What is written, by the features that it belongs to.
struct InUse<'a> {
    versions: Versions,
    written: &'a BTreeMap<&'a str, Vec<&'a Layer>>,
    /// Beginnings of names, each with a written key.
    features: BTreeMap<&'a str, &'a str>,
    /// Keys that are written under an older name.
    renamed: BTreeSet<&'static str>,
}

impl<'a> InUse<'a> {
    fn new(versions: Versions, written: &'a BTreeMap<&'a str, Vec<&'a Layer>>) -> Self {
        let mut features = BTreeMap::new();
        let mut renamed = BTreeSet::new();
        for key in written.keys() {
            if let Some(prefix) = feature(key) {
                features.entry(prefix).or_insert(*key);
            }
            renamed.extend(catalog::setting(key).and_then(|facts| facts.alternative_of()).map(|main| main.key));
        }
        Self { versions, written, features, renamed }
    }

    fn is_written(&self, facts: &SettingFacts) -> bool {
        self.written.contains_key(facts.name()) || self.renamed.contains(facts.name())
    }

    fn reason(&self, facts: &SettingFacts, old: Default, new: Default) -> Option<Reliance> {
        let fallback = [old, new].into_iter().find_map(|default| match default {
            Default::Fallback(key) if self.written.contains_key(key) => Some(key),
            _ => None,
        });
        if let Some(key) = fallback {
            return Some(Reliance::FallsBack { key });
        }
        let name = facts.name();
        if beginnings(name).any(|prefix| self.is_off(prefix, name)) {
            return None;
        }
        // A switch belongs to the feature that it switches, too.
        let own = self.features.iter().find(|(prefix, _)| prefix.strip_suffix('.') == Some(name));
        let longer = || self.features.iter().find(|(prefix, _)| name.starts_with(**prefix));
        let (prefix, key) = own.or_else(longer)?;
        Some(Reliance::Feature { prefix: (*prefix).to_owned(), key: (*key).to_owned() })
    }

    /// Whether the switch of the feature with these names, if it has one besides `name`, is off in both versions.
    fn is_off(&self, prefix: &str, name: &str) -> bool {
        let switches = [prefix.trim_end_matches('.').to_owned(), format!("{prefix}enabled")];
        let switches = switches.iter().filter(|switch| *switch != name).filter_map(|switch| catalog::setting(switch));
        switches.filter(|switch| switch.kind(self.versions.to) == Kind::Boolean).any(|switch| {
            let is_false = |text: &str| value::boolean(text.trim()) == Ok(false);
            match self.written.get(switch.name()) {
                Some(layers) => {
                    layers.iter().all(|layer| matches!(&layer.value, Value::Literal(text) if is_false(text)))
                }
                None => [self.versions.from, self.versions.to]
                    .iter()
                    .all(|version| matches!(switch.default(*version), Default::Value(text) if is_false(text))),
            }
        })
    }
}

/// More settings than this under one beginning are a module of Spark, not a feature of it: `spark.sql.`,
/// `spark.kubernetes.`.
const LARGEST_FEATURE: usize = 50;

/// The beginning that a written key shares with the other settings of its feature: the shortest that is no module.
fn feature(key: &str) -> Option<&str> {
    let counts = counts();
    let is_feature = |prefix: &&str| counts.get(*prefix).is_some_and(|count| *count <= LARGEST_FEATURE);
    // `spark.speculation` switches on what begins with it.
    let is_switch =
        catalog::setting(key).is_some_and(|facts| facts.kind(catalog::VersionIndex::NEWEST) == Kind::Boolean);
    let switched = || counts.get_key_value(format!("{key}.").as_str()).map(|(prefix, _)| *prefix);
    let own = || switched().filter(|_| is_switch).filter(is_feature);
    beginnings(key).find(is_feature).or_else(own)
}

/// The beginnings of a name that end with a dot, shortest first, without `spark.`, which begins all.
fn beginnings(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').skip(1).map(|(at, _)| &name[..=at])
}

/// How many settings begin alike.
fn counts() -> &'static HashMap<&'static str, usize> {
    static COUNTS: OnceLock<HashMap<&str, usize>> = OnceLock::new();
    COUNTS.get_or_init(|| {
        let mut counts = HashMap::new();
        for prefix in catalog::settings().flat_map(|facts| beginnings(facts.name())) {
            *counts.entry(prefix).or_default() += 1;
        }
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf::{Carrier, Origin};
    use std::path::PathBuf;
    use std::sync::Arc;

    fn version(text: &str) -> SparkVersion {
        text.parse().expect("a version")
    }

    fn layers(settings: &[(&str, &str)]) -> Vec<Layer> {
        let path = Arc::new(PathBuf::from("conf/spark-defaults.conf"));
        let layer = |(line, (key, value)): (usize, &(&str, &str))| Layer {
            key: (*key).to_owned(),
            value: Value::Literal((*value).to_owned()),
            origin: Origin::Written { carrier: Carrier::Properties, path: Arc::clone(&path), line: line as u32 + 1 },
        };
        settings.iter().enumerate().map(layer).collect()
    }

    fn upgrade(from: &str, to: &str, settings: &[(&str, &str)]) -> Upgrade {
        changes(version(from), version(to), &layers(settings))
    }

    fn relied_on(upgrade: &Upgrade) -> Vec<&str> {
        upgrade.relied_on.iter().map(|default| default.key).collect()
    }

    #[test]
    fn a_feature_that_is_on_relies_on_its_defaults() {
        let on = upgrade("3.5", "4.0", &[("spark.speculation", "true"), ("spark.sql.adaptive.enabled", "true")]);
        assert_eq!(relied_on(&on), ["spark.speculation.multiplier", "spark.speculation.quantile"]);
        assert_eq!((on.relied_on[1].old, on.relied_on[1].new), (Default::Value("0.75"), Default::Value("0.9")));
        assert!(on.written.is_empty());
        let off = upgrade("3.5", "4.0", &[("spark.speculation", "false")]);
        assert!(relied_on(&off).is_empty());
        assert!(off.others.iter().any(|default| default.key == "spark.speculation.quantile"));
    }

    #[test]
    fn a_written_value_is_held_against_both_defaults() {
        let standing = |value: &str| {
            let upgrade = upgrade("3.5", "4.0", &[("spark.speculation.quantile", value)]);
            upgrade.written[0].places[0].standing
        };
        assert_eq!(standing("0.75"), Standing::OldDefault);
        assert_eq!(standing("0.9"), Standing::NewDefault);
        assert_eq!(standing("0.5"), Standing::Own);
    }

    #[test]
    fn a_type_that_widens_accepts_more() {
        let key = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
        let wider = upgrade("3.3", "3.4", &[(key, "2.5")]);
        let change = Change::Kind { old: Kind::Int, new: Kind::Double };
        assert_eq!(wider.written[0].changes, [change]);
        assert_eq!(wider.written[0].places[0].fate, Fate::Accepted);
    }

    #[test]
    fn what_dies_is_said_and_what_follows_is_named() {
        let gone = upgrade("3.5", "4.0", &[("spark.mesos.coarse", "true")]);
        assert!(matches!(gone.written[0].changes[0], Change::NotRead { .. }), "{:?}", gone.written);
        let renamed = upgrade("3.0", "3.5", &[("spark.blacklist.enabled", "true")]);
        assert!(
            matches!(renamed.written[0].changes[0], Change::NotRead { instead: Some(_), .. } | Change::Renamed { .. }),
            "{:?}",
            renamed.written
        );
    }

    #[test]
    fn nothing_changes_between_patches() {
        let same = upgrade("3.5.1", "3.5.9", &[("spark.speculation", "true")]);
        assert_eq!(same.counts(), Counts { written: 0, relied_on: 0, others: 0 });
    }

    #[test]
    fn a_module_is_no_feature() {
        assert_eq!(feature("spark.sql.autoBroadcastJoinThreshold"), None);
        assert_eq!(feature("spark.sql.adaptive.skewJoin.enabled"), Some("spark.sql.adaptive."));
        assert_eq!(feature("spark.speculation"), Some("spark.speculation."));
        assert_eq!(feature("spark.master"), None);
    }
}
