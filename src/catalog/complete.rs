//! Names that match what is typed: by segments, else by characters in order.

use std::sync::OnceLock;

use super::family::{FreeName, free_names};
use super::{SettingFacts, SparkVersion, notes, settings};

/// More are not worth reading; typing on narrows them down.
const MOST: usize = 200;

/// Names to offer.
#[derive(Debug, Clone, Default)]
pub struct Completions {
    /// Best first, at most 200.
    pub names: Vec<Completion>,
    /// Whether others match too.
    pub is_incomplete: bool,
}

/// A name to offer.
#[derive(Debug, Clone, Copy)]
pub enum Completion {
    /// A setting.
    Setting {
        /// What is known of it.
        facts: &'static SettingFacts,
        /// Whom it is for.
        standing: Standing,
    },
    /// Names that are free in part.
    Free(FreeName),
}

/// Whom a setting is for; of names that match alike the later ones come behind, internal ones behind everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// Users.
    Current,
    /// Nobody any more: deprecated, removed, or the older name of another.
    Old,
    /// Spark itself: declared, and not meant for users.
    Internal,
}

impl Completion {
    /// The name as it is shown, with what stands for the free part in capitals.
    pub fn label(&self) -> String {
        match self {
            Self::Setting { facts, .. } => facts.name().to_owned(),
            Self::Free(free) => free.label(),
        }
    }
}

/// Names that match `typed` in any case, best first, under this Spark version.
pub fn complete(typed: &str, version: SparkVersion) -> Completions {
    let typed = typed.to_ascii_lowercase();
    let mut found: Vec<(Rank, Completion)> = Vec::new();
    for name in index() {
        let Some(distance) = distance(&typed, &name.lower) else { continue };
        if !name.facts.present(version) {
            continue;
        }
        let standing = standing(name.facts, version);
        let rank = (standing == Standing::Internal, distance, standing, !name.is_explained, name.facts.name());
        found.push((rank, Completion::Setting { facts: name.facts, standing }));
    }
    for free in free_names() {
        // The beginning alone is what others are compared with; a part that is typed of the free name is the user's.
        let Some(distance) = distance(&typed, &free.before.to_ascii_lowercase()) else { continue };
        found.push(((false, distance, Standing::Current, true, free.before), Completion::Free(free)));
    }
    let is_incomplete = found.len() > MOST;
    if is_incomplete {
        found.select_nth_unstable_by_key(MOST, |(rank, _)| *rank);
        found.truncate(MOST);
    }
    found.sort_unstable_by_key(|(rank, _)| *rank);
    Completions { names: found.into_iter().map(|(_, completion)| completion).collect(), is_incomplete }
}

/// Internal, distance, standing, unexplained, name: the least is offered first.
type Rank = (bool, u8, Standing, bool, &'static str);

/// A name as it is compared.
struct Name {
    lower: String,
    is_explained: bool,
    facts: &'static SettingFacts,
}

/// Every name that can be offered, in lower case, made once.
fn index() -> &'static [Name] {
    static INDEX: OnceLock<Vec<Name>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let names = settings().filter(|facts| !facts.is_prefix());
        names
            .map(|facts| Name {
                lower: facts.name().to_ascii_lowercase(),
                is_explained: notes::note(facts.name()).is_some(),
                facts,
            })
            .collect()
    })
}

fn standing(facts: &SettingFacts, version: SparkVersion) -> Standing {
    if facts.registered() && !facts.public(version) {
        Standing::Internal
    } else if facts.deprecated_in().is_some() || facts.alternative_of().is_some() || facts.removed_in().is_some() {
        Standing::Old
    } else {
        Standing::Current
    }
}

/// How far what is typed is from a name, both in lower case: 0 where the name begins with it, 1 where each of its
/// segments begins one of the name's in order (`s.sq.shuf` or `shuffle.part`), 2 where the name holds it, 3 where the
/// name holds its characters in order.
fn distance(typed: &str, name: &str) -> Option<u8> {
    if name.starts_with(typed) {
        return Some(0);
    }
    // Only what holds its characters in order can match in a stricter way.
    if !holds_in_order(typed, name) {
        return None;
    }
    let mut segments = name.split('.');
    if typed.split('.').all(|part| segments.any(|segment| segment.starts_with(part))) {
        return Some(1);
    }
    Some(if name.contains(typed) { 2 } else { 3 })
}

fn holds_in_order(typed: &str, name: &str) -> bool {
    let mut bytes = name.bytes();
    typed.bytes().all(|wanted| bytes.any(|byte| byte == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPARK_35: SparkVersion = SparkVersion::new(3, 5, 0);

    fn labels(typed: &str) -> Vec<String> {
        complete(typed, SPARK_35).names.iter().map(Completion::label).collect()
    }

    fn standings(typed: &str) -> Vec<Standing> {
        let standing = |completion: &Completion| match completion {
            Completion::Setting { standing, .. } => *standing,
            Completion::Free(_) => Standing::Current,
        };
        let names = complete(typed, SPARK_35).names;
        names.iter().filter(|name| name.label().starts_with(typed)).map(standing).collect()
    }

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
    fn what_is_for_users_comes_first_then_old_names_then_internal_ones() {
        let labels = labels("spark.sql.adaptive.");
        assert!(labels.iter().all(|label| label.starts_with("spark.sql.adaptive.")), "{labels:?}");
        let standings = standings("spark.sql.execution.arrow.");
        assert!(standings.is_sorted() && standings.contains(&Standing::Old), "{standings:?}");
        assert_eq!((standings.first(), standings.last()), (Some(&Standing::Current), Some(&Standing::Internal)));
    }

    #[test]
    fn the_best_of_many_are_kept() {
        let found = complete("", SPARK_35);
        assert!(found.is_incomplete && found.names.len() == MOST);
        assert_eq!(labels("SHUFFLE.PART").first().map(String::as_str), Some("spark.sql.shuffle.partitions"));
    }

    #[test]
    fn names_that_are_free_in_part_are_offered_with_their_beginning() {
        assert!(labels("spark.executorE").contains(&"spark.executorEnv.NAME".to_owned()));
        assert!(labels("spark.executor.res").contains(&"spark.executor.resource.NAME.amount".to_owned()));
        assert!(labels("spark.sql.cat").contains(&"spark.sql.catalog.NAME".to_owned()));
        assert!(!labels("spark.executorEnv.JAVA").contains(&"spark.executorEnv.NAME".to_owned()));
    }
}
