//! The embedded table, read once.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::facts::{Bounds, ByteUnit, CaseFold, Default, Kind, Limit, MainKey, Removed, Scope, SettingFacts, TimeUnit};
use super::release::{Releases, Runs, VersionIndex};

/// Facts by key; its first lines say what the fields mean.
const SETTINGS: &str = include_str!("../../data/settings.tsv");

/// What the generator tried on a setting of floating point to find the interval that it accepts.
const PROBES: [&str; 10] = ["-1", "-0.0001", "0", "0.0001", "0.5", "0.9999", "1", "1.0001", "2", "100"];

/// Every setting, sorted by name, and where to find a name.
pub(super) struct Table {
    pub(super) settings: Vec<SettingFacts>,
    by_name: FxHashMap<&'static str, usize>,
    /// Names that Spark's configuration itself replaces by a newer key, by that key.
    older: FxHashMap<&'static str, Vec<&'static str>>,
}

impl Table {
    /// The table, read on first use.
    pub(super) fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(Self::read)
    }

    pub(super) fn find(&self, name: &str) -> Option<&SettingFacts> {
        self.by_name.get(name).and_then(|&index| self.settings.get(index))
    }

    fn read() -> Self {
        let lines = SETTINGS.lines().filter(|line| !line.starts_with('#'));
        let settings: Vec<SettingFacts> = lines.map(read_line).collect();
        let by_name = settings.iter().enumerate().map(|(index, facts)| (facts.name, index)).collect();
        let mut older: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (facts, main) in settings.iter().filter_map(|facts| Some((facts, facts.main?))) {
            // Where no version is named, the newer key itself lists its alternatives.
            if main.since.is_some() {
                older.entry(main.key).or_default().push(facts.name);
            }
        }
        Self { settings, by_name, older }
    }
}

fn read_line(line: &'static str) -> SettingFacts {
    let mut fields = line.split('\t');
    let mut facts = SettingFacts {
        name: fields.next().unwrap_or_default(),
        defaults: Runs::default(),
        kinds: Runs::default(),
        scopes: Runs::default(),
        since: Runs::default(),
        internal: Runs::default(),
        allowed: Runs::default(),
        folds: Runs::default(),
        bounds: Runs::default(),
        alternatives: Runs::default(),
        prepended: Runs::default(),
        raw: None,
        main: None,
        deprecated: None,
        removed: None,
    };
    for field in fields {
        read_field(&mut facts, field);
    }
    facts.defaults.0.sort_by_key(|(releases, _)| releases.first);
    facts.folds.0.sort_by_key(|(releases, _)| releases.first);
    facts
}

fn read_field(facts: &mut SettingFacts, field: &'static str) {
    let (head, value) = field.split_once('=').unwrap_or((field, ""));
    let releases = match head.as_bytes() {
        [_, first, last] => {
            let (Some(first), Some(last)) = (VersionIndex::from_digit(*first), VersionIndex::from_digit(*last)) else {
                return;
            };
            Releases { first, last }
        }
        _ => Releases::ALL,
    };
    let parts = || value.split('|').collect();
    match head.as_bytes().first() {
        Some(b'd') => facts.defaults.0.push((releases, Default::Value(value))),
        Some(b'n') => facts.defaults.0.push((releases, Default::Unset)),
        Some(b'm') => facts.defaults.0.push((releases, Default::Symbolic(value))),
        Some(b'f') => facts.defaults.0.push((releases, Default::Fallback(value))),
        Some(b't') => facts.kinds.0.push((releases, kind(value))),
        Some(b'c') => facts.scopes.0.push((releases, scope(value))),
        Some(b's') => facts.since.0.push((releases, value)),
        Some(b'i') => facts.internal.0.push((releases, ())),
        Some(b'a') => facts.allowed.0.push((releases, parts())),
        Some(b'l') => facts.folds.0.push((releases, CaseFold::Lower)),
        Some(b'u') => facts.folds.0.push((releases, CaseFold::Upper)),
        Some(b'b') => facts.bounds.0.push((releases, bounds(value))),
        Some(b'k') => facts.alternatives.0.push((releases, parts())),
        Some(b'p') => facts.prepended.0.push((releases, value)),
        Some(b'r') => facts.raw = Some(releases),
        Some(b'A') => facts.main = Some(main_key(value)),
        Some(b'o') => facts.deprecated = Some(value),
        Some(b'x') => {
            let (since, accepted) = value.split_once('|').unwrap_or((value, ""));
            facts.removed = Some(Removed { since, accepted });
        }
        _ => {}
    }
}

fn kind(text: &str) -> Kind {
    match text {
        "boolean" => Kind::Boolean,
        "int" => Kind::Int,
        "long" => Kind::Long,
        "double" => Kind::Double,
        "decimal" => Kind::Decimal,
        "string" => Kind::String,
        "string[]" => Kind::StringList,
        "long[]" => Kind::LongList,
        "bytes:BYTE" => Kind::Bytes(ByteUnit::Byte),
        "bytes:KiB" => Kind::Bytes(ByteUnit::KiB),
        "bytes:MiB" => Kind::Bytes(ByteUnit::MiB),
        "time:NANOSECONDS" => Kind::Time(TimeUnit::Nanoseconds),
        "time:MILLISECONDS" => Kind::Time(TimeUnit::Milliseconds),
        "time:SECONDS" => Kind::Time(TimeUnit::Seconds),
        "time:MINUTES" => Kind::Time(TimeUnit::Minutes),
        "regex" => Kind::Regex,
        "enum" => Kind::Enum,
        _ => Kind::Untyped,
    }
}

fn scope(text: &str) -> Scope {
    match text {
        "run" => Scope::SqlRuntime,
        "static" => Scope::SqlStatic,
        _ => Scope::Core,
    }
}

fn bounds(text: &str) -> Bounds {
    let inclusive = |text: &str| text.parse().ok().map(|value| Limit { value, inclusive: true });
    if let Some((min, max)) = text.split_once("..") {
        return Bounds { min: inclusive(min), max: inclusive(max) };
    }
    let index_of = |probe: Option<&str>| PROBES.iter().position(|&other| Some(other) == probe);
    Bounds {
        min: index_of(text.split('|').next()).and_then(|index| limit(index, index.checked_sub(1))),
        max: index_of(text.split('|').next_back()).and_then(|index| limit(index, Some(index + 1))),
    }
}

/// The end of an interval whose outermost accepted probe is at `index`, where `refused` is the next one. A refused
/// whole number beside an accepted fraction is the open end itself: (0, 0.0001, ...) is "greater than 0".
fn limit(index: usize, refused: Option<usize>) -> Option<Limit> {
    let refused = PROBES.get(refused?)?;
    let accepted = PROBES[index];
    let open = accepted.contains('.') && !refused.contains('.');
    let value = if open { refused } else { accepted };
    value.parse().ok().map(|value| Limit { value, inclusive: !open })
}

fn main_key(text: &'static str) -> MainKey {
    let mut parts = text.split('|');
    MainKey {
        key: parts.next().unwrap_or_default(),
        since: parts.next().filter(|since| !since.is_empty()),
        translates: parts.next() == Some("t"),
    }
}

impl SettingFacts {
    /// Every older name that this version reads when the key itself is not set, in the order in which it looks.
    pub fn older_names(&self, v: impl Into<VersionIndex>) -> impl Iterator<Item = &'static SettingFacts> {
        let (v, table) = (v.into(), Table::get());
        let replaced = table.older.get(self.name).map_or(&[][..], Vec::as_slice);
        let listed = self.alternatives(v).iter().filter_map(|name| table.find(name));
        let replaced = replaced.iter().filter_map(|name| table.find(name)).filter(move |facts| facts.present(v));
        listed.chain(replaced)
    }

    /// Whether the name is only the beginning of names: `spark.hadoop.`, `spark.ssl`.
    pub fn is_prefix(&self) -> bool {
        if self.registered() || self.main.is_some() || self.deprecated.is_some() {
            return false;
        }
        let settings = &Table::get().settings;
        let next = settings.partition_point(|facts| facts.name <= self.name);
        let longer =
            |facts: &SettingFacts| facts.name.strip_prefix(self.name).is_some_and(|rest| rest.starts_with('.'));
        self.name.ends_with('.')
            || settings[next..].iter().take_while(|facts| facts.name.starts_with(self.name)).any(longer)
    }
}
