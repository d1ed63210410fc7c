//! Keys that match what is typed: by segments, else by characters in order.

use super::super::hover::setting_kind;
use super::Offer;
use crate::catalog::{self, Default, SettingFacts, SparkVersion, notes};

/// More are not worth reading; typing on narrows them down.
const MOST: usize = 200;

/// Matching keys, best first, and whether there are more.
pub(super) fn matching(typed: &str, version: SparkVersion) -> (Vec<Offer>, bool) {
    let typed = typed.to_ascii_lowercase();
    let mut found: Vec<_> = catalog::settings()
        .filter(|facts| facts.present(version) && !facts.is_prefix())
        .filter(|facts| facts.public(version) || !facts.registered())
        .filter_map(|facts| {
            let distance = distance(&typed, &facts.name().to_ascii_lowercase())?;
            Some((distance, is_old(facts), notes::note(facts.name()).is_none(), facts))
        })
        .collect();
    found.sort_by_key(|&(distance, old, unexplained, facts)| (distance, old, unexplained, facts.name()));
    let more = found.len() > MOST;
    let offers = found.into_iter().take(MOST).map(|(_, old, _, facts)| offer(facts, old, version));
    (offers.collect(), more)
}

fn offer(facts: &'static SettingFacts, deprecated: bool, version: SparkVersion) -> Offer {
    let kind = setting_kind(facts, version).split(',').next().unwrap_or_default();
    let default = match facts.default(version) {
        Default::Value(value) if !value.is_empty() && value.len() <= 40 => format!("default {value}"),
        _ => String::new(),
    };
    let parts: Vec<&str> = [kind, default.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    Offer {
        label: facts.name().to_owned(),
        detail: Some(parts.join(" · ")).filter(|detail| !detail.is_empty()),
        deprecated,
        key: Some(facts.name()),
    }
}

fn is_old(facts: &SettingFacts) -> bool {
    facts.deprecated_in().is_some() || facts.alternative_of().is_some() || facts.removed_in().is_some()
}

/// How far what is typed is from a name, both in lower case: 0 where the name begins with it, 1 where each of its
/// segments begins one of the name's in order (`s.sq.shuf` or `shuffle.part`), 2 where the name holds it, 3 where the
/// name holds its characters in order.
fn distance(typed: &str, name: &str) -> Option<u8> {
    if name.starts_with(typed) {
        return Some(0);
    }
    let mut segments = name.split('.');
    if typed.split('.').all(|part| segments.any(|segment| segment.starts_with(part))) {
        return Some(1);
    }
    if name.contains(typed) {
        return Some(2);
    }
    let mut characters = name.chars();
    typed.chars().all(|wanted| characters.any(|character| character == wanted)).then_some(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_ordered() {
        let name = "spark.sql.shuffle.partitions";
        let distance = |typed: &str| distance(typed, name);
        assert_eq!(distance("spark.sql.sh"), Some(0));
        assert_eq!(distance("s.sq.sh.pa"), Some(1));
        assert_eq!(distance("shuffle.part"), Some(1));
        assert_eq!(distance("uffle"), Some(2));
        assert_eq!(distance("sprkshfl"), Some(3));
        assert_eq!(distance("xyz"), None);
    }

    #[test]
    fn what_is_typed_comes_first_and_old_names_last() {
        let (offers, more) = matching("spark.sql.adaptive.", SparkVersion::new(3, 5, 0));
        assert!(!more && offers.iter().all(|offer| offer.label.starts_with("spark.sql.adaptive.")));
        let first_old = offers.iter().position(|offer| offer.deprecated).unwrap_or(offers.len());
        assert!(offers[first_old..].iter().all(|offer| offer.deprecated));
        assert!(matching("", SparkVersion::new(3, 5, 0)).1);
    }
}
