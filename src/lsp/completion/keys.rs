//! Keys that match what is typed, and the flags of spark-submit.

use super::super::hover::setting_kind;
use super::Offer;
use crate::catalog::{Completion, Default, FreeName, SettingFacts, SparkVersion, Standing, complete};
use crate::conf::carriers;

/// Matching keys, best first, and whether there are more. Below blocks that put `under` before every key, only the rest
/// of a key is offered.
pub(super) fn matching(under: &str, typed: &str, version: SparkVersion) -> (Vec<Offer>, bool) {
    let found = complete(&format!("{under}{typed}"), version);
    let offer = |completion| match completion {
        Completion::Setting { facts, standing } => of_setting(facts, standing, version),
        Completion::Free(free) => of_free_name(free),
    };
    (found.names.into_iter().map(offer).filter_map(|offer| below(under, offer)).collect(), found.is_incomplete)
}

fn below(under: &str, offer: Offer) -> Option<Offer> {
    let rest = |text: &String| text.strip_prefix(under).filter(|rest| !rest.is_empty()).map(str::to_owned);
    let (insert, snippet) = (offer.insert.as_ref().and_then(rest), offer.snippet.as_ref().and_then(rest));
    Some(Offer { label: rest(&offer.label)?, insert, snippet, ..offer })
}

/// The flags of spark-submit; a client picks those that match.
pub(super) fn flags() -> Vec<Offer> {
    carriers::flags()
        .map(|(flag, key)| Offer { detail: key.map(str::to_owned), key, ..Offer::new(flag.to_owned()) })
        .collect()
}

fn of_setting(facts: &'static SettingFacts, standing: Standing, version: SparkVersion) -> Offer {
    let kind = setting_kind(facts, version).split(',').next().unwrap_or_default();
    let default = match facts.default(version) {
        Default::Value(value) if !value.is_empty() && value.len() <= 40 => format!("default {value}"),
        _ => String::new(),
    };
    let internal = if standing == Standing::Internal { "internal" } else { "" };
    let parts: Vec<&str> = [kind, default.as_str(), internal].into_iter().filter(|part| !part.is_empty()).collect();
    Offer {
        detail: Some(parts.join(" · ")).filter(|detail| !detail.is_empty()),
        deprecated: standing == Standing::Old || facts.deprecated_in().is_some(),
        key: Some(facts.name()),
        ..Offer::new(facts.name().to_owned())
    }
}

fn of_free_name(free: FreeName) -> Offer {
    Offer {
        insert: Some(free.before.to_owned()),
        snippet: Some(format!("{}${{1:{}}}{}", free.before, free.placeholder, free.behind)),
        detail: Some("any name".to_owned()),
        ..Offer::new(free.label())
    }
}
