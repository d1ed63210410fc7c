//! PySpark's API as a table: what each name of each class returns and since when (`data/pyspark-api.tsv`, made from
//! PySpark's packages), and what it does (`data/pyspark-effects.tsv`, ours).

/// An enum by the words that the tables have for its variants.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$what])* $variant),+ }

        impl $type {
            /// All of them.
            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$variant),+];

            /// By the word of the tables.
            pub(super) fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The word of the tables.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

mod class;
mod effect;
mod names;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

pub use class::Class;
pub use effect::{Effect, Function, FunctionKind, Rows, Run, Setup, Shuffle, Step, Tells};
pub(super) use names::{is_foreign_frame, is_foreign_package, is_session_name, is_spark_package};

use crate::catalog::SparkVersion;

/// A name of a class of PySpark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What comes back.
    pub returns: Returns,
    /// It is not called.
    pub is_property: bool,
    /// The version that brought it; `None` if it was always there or is a vendor's.
    pub since: Option<SparkVersion>,
    /// What it does.
    pub effect: Effect,
    /// Whether rows go over the network; `None` where that is no question.
    pub shuffle: Option<Shuffle>,
    /// How many rows come back; `None` where that is no question.
    pub rows: Option<Rows>,
    /// What the name alone tells of its receiver.
    pub tells: Tells,
}

/// What comes back from a name of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// An object of a class of the table.
    One(Class),
    /// A list of them.
    Many(Class),
    /// Something of pandas.
    Pandas,
    /// A table of Arrow.
    Arrow,
    /// Anything else.
    Other,
}

impl Entry {
    /// The step of the plan, if it is one.
    pub fn step(&self) -> Option<Step> {
        if let Effect::Lazy(step) = self.effect { Some(step) } else { None }
    }

    /// What makes a column, if it makes one.
    pub fn function(&self) -> Option<Function> {
        if let Effect::Column(function) = self.effect { Some(function) } else { None }
    }
}

/// By class, then by name: one short text is hashed for a look.
type Table = Vec<FxHashMap<&'static str, Entry>>;

const API: &str = include_str!("../../../data/pyspark-api.tsv");
const EFFECTS: &str = include_str!("../../../data/pyspark-effects.tsv");

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table::new();
        let (own, of_vendors): (Vec<OfName>, Vec<OfName>) = effects().partition(|known| !known.of_vendor);
        let known: FxHashMap<(Class, &str), Does> = own.into_iter().map(|it| ((it.class, it.name), it.does)).collect();
        let mut add = |class: Class, name, entry| {
            if table.len() <= class as usize {
                table.resize_with(class as usize + 1, FxHashMap::default);
            }
            table[class as usize].insert(name, entry);
        };
        for (class, name, fact) in facts() {
            let does = known.get(&(class, name)).or_else(|| known.get(&(class, "*"))).copied();
            add(class, name, entry_of(fact, does.unwrap_or(Does::UNKNOWN)));
        }
        let fact = Fact { returns: Returns::Other, is_property: false, since: None };
        for it in of_vendors {
            add(it.class, it.name, entry_of(fact, it.does));
        }
        table
    })
}

/// What PySpark's packages tell of a name.
#[derive(Debug, Clone, Copy)]
struct Fact {
    returns: Returns,
    is_property: bool,
    since: Option<SparkVersion>,
}

/// What we tell of a name.
#[derive(Debug, Clone, Copy)]
struct Does {
    effect: Effect,
    shuffle: Option<Shuffle>,
    rows: Option<Rows>,
    tells: Tells,
}

impl Does {
    const UNKNOWN: Self = Self { effect: Effect::Metadata, shuffle: None, rows: None, tells: Tells::Nothing };
}

/// A line of `data/pyspark-effects.tsv`.
#[derive(Debug, Clone, Copy)]
struct OfName {
    class: Class,
    name: &'static str,
    /// PySpark itself lacks it.
    of_vendor: bool,
    does: Does,
}

fn entry_of(fact: Fact, does: Does) -> Entry {
    let Fact { returns, is_property, since } = fact;
    let Does { effect, shuffle, rows, tells } = does;
    Entry { returns, is_property, since, effect, shuffle, rows, tells }
}

fn facts() -> impl Iterator<Item = (Class, &'static str, Fact)> {
    API.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let (class, name) = (Class::from_word(cells.next()?)?, cells.next()?);
        let is_property = cells.next()? == "property";
        let returns = match cells.next()? {
            "-" => Returns::Other,
            "pandas" => Returns::Pandas,
            "arrow" => Returns::Arrow,
            word => match word.strip_prefix("list:") {
                Some(class) => Returns::Many(Class::from_word(class)?),
                None => Returns::One(Class::from_word(word)?),
            },
        };
        Some((class, name, Fact { returns, is_property, since: cells.next()?.parse().ok() }))
    })
}

fn effects() -> impl Iterator<Item = OfName> {
    EFFECTS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut cells = line.split('\t');
        let class = cells.next()?;
        let name = cells.next()?;
        let of_vendor = class.ends_with('+');
        let effect = Effect::from_words(cells.next()?)?;
        // A word that is none of the table is told apart from none.
        let shuffle = Some(cells.next()?).filter(|word| *word != "-").map(Shuffle::from_word);
        let rows = Some(cells.next()?).filter(|word| *word != "-").map(Rows::from_word);
        let (shuffle, rows) =
            (shuffle.map_or(Some(None), |it| it.map(Some))?, rows.map_or(Some(None), |it| it.map(Some))?);
        let does = Does { effect, shuffle, rows, tells: Tells::from_word(cells.next()?)? };
        Some(OfName { class: Class::from_word(class.trim_end_matches('+'))?, name, of_vendor, does })
    })
}

/// A name of a class of PySpark.
pub fn entry(class: Class, name: &str) -> Option<&'static Entry> {
    table().get(class as usize)?.get(name)
}

/// A function of `pyspark.sql.functions` that makes a column.
pub fn function(name: &str) -> Option<Function> {
    entry(Class::Functions, name)?.function()
}

/// The same of a name in SQL, where case is no difference.
pub(super) fn sql_function(name: &str) -> Option<Function> {
    let mut letters = [0_u8; LONGEST];
    let letters = letters.get_mut(..name.len())?;
    letters.copy_from_slice(name.as_bytes());
    letters.make_ascii_lowercase();
    function(std::str::from_utf8(letters).ok()?)
}

/// No function has a longer name.
const LONGEST: usize = 64;

/// Whether a function of SQL makes one value of many rows.
pub(super) fn is_aggregate(name: &str) -> bool {
    sql_function(name).is_some_and(|function| function.kind == FunctionKind::Aggregate)
}

/// Whether a function of SQL makes several rows of one.
pub(super) fn is_generator(name: &str) -> bool {
    sql_function(name).is_some_and(|function| function.kind == FunctionKind::Generator)
}

/// The names of `pyspark.sql.functions`.
pub(super) fn functions() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let of_functions = table().get(Class::Functions as usize);
        let mut names: Vec<_> = of_functions.into_iter().flat_map(|names| names.keys().copied()).collect();
        names.sort_unstable();
        names
    })
}

/// Whether only a DataFrame of Spark (and none of pandas, polars or a list) has the method.
pub(super) fn is_frame_only(method: &str) -> bool {
    entry(Class::DataFrame, method).is_some_and(|entry| entry.tells != Tells::Nothing)
}

/// Whether a name alone shows a DataFrame of Spark in a file of Spark.
pub(super) fn is_distinctive(method: &str) -> bool {
    entry(Class::DataFrame, method).is_some_and(|entry| entry.tells == Tells::Spark)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a table, without its explanation.
    fn lines(table: &'static str) -> Vec<&'static str> {
        table.lines().filter(|line| !line.starts_with('#')).collect()
    }

    #[test]
    fn every_line_can_be_read() {
        assert_eq!(facts().count(), lines(API).len());
        assert_eq!(effects().count(), lines(EFFECTS).len());
        assert!(facts().count() > 1000);
    }

    #[test]
    fn lines_are_in_order_and_each_name_has_one() {
        for table in [API, EFFECTS] {
            let mut keys: Vec<Vec<&str>> = lines(table).iter().map(|line| line.split('\t').take(2).collect()).collect();
            let all = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), all);
        }
    }

    /// A new version of PySpark fails here until somebody says in `data/pyspark-effects.tsv` what its names do.
    #[test]
    fn every_name_of_the_api_has_an_effect() {
        let known: Vec<(Class, &str)> = effects().map(|known| (known.class, known.name)).collect();
        let is_known = |class, name| known.contains(&(class, name)) || known.contains(&(class, "*"));
        let unknown: Vec<_> =
            facts().filter(|(class, name, _)| !is_known(*class, name)).map(|it| (it.0, it.1)).collect();
        assert!(unknown.is_empty(), "say what these do in data/pyspark-effects.tsv: {unknown:?}");
    }

    #[test]
    fn every_effect_is_of_a_name_of_the_api() {
        let api: Vec<(Class, &str)> = facts().map(|(class, name, _)| (class, name)).collect();
        for known in effects() {
            let is_there = api.contains(&(known.class, known.name)) || known.name == "*";
            assert_ne!(is_there, known.of_vendor, "{}.{}", known.class.word(), known.name);
        }
    }

    #[test]
    fn what_comes_back_from_a_frame_fits_its_effect() {
        for (class, name, fact) in facts().filter(|(class, ..)| matches!(class, Class::DataFrame | Class::Rdd)) {
            let entry = entry(class, name).expect("a name of the table");
            let is_frame = matches!(fact.returns, Returns::One(Class::DataFrame | Class::Rdd | Class::GroupedData))
                || matches!(fact.returns, Returns::Many(_));
            match entry.effect {
                Effect::Lazy(_) => assert!(entry.shuffle.is_some() && entry.rows.is_some(), "{name}"),
                Effect::Action(Run::Summary | Run::Checkpoint) | Effect::Release => {}
                _ => assert!(!is_frame, "{name} gives a frame: say what step it is"),
            }
        }
    }

    #[test]
    fn words_are_told_apart() {
        fn apart<T: Copy + PartialEq>(all: &[T], word: fn(T) -> &'static str, of: fn(&str) -> Option<T>) {
            assert!(all.iter().all(|it| of(word(*it)) == Some(*it)));
        }
        apart(Class::ALL, Class::word, Class::from_word);
        apart(Run::ALL, Run::word, Run::from_word);
        apart(Step::ALL, Step::word, Step::from_word);
        apart(Setup::ALL, Setup::word, Setup::from_word);
        apart(FunctionKind::ALL, FunctionKind::word, FunctionKind::from_word);
        apart(Shuffle::ALL, Shuffle::word, Shuffle::from_word);
        apart(Rows::ALL, Rows::word, Rows::from_word);
        apart(Tells::ALL, Tells::word, Tells::from_word);
        assert_eq!(Effect::from_words("action fly"), None);
        assert_eq!(Effect::from_words("column scalar sings"), None);
    }

    #[test]
    fn the_table_knows_the_api() {
        let with_column = entry(Class::DataFrame, "withColumn").unwrap();
        assert_eq!(with_column.returns, Returns::One(Class::DataFrame));
        assert_eq!((with_column.effect, with_column.shuffle), (Effect::Lazy(Step::Columns), Some(Shuffle::Never)));
        assert!(entry(Class::SparkSession, "read").unwrap().is_property);
        assert_eq!(entry(Class::DataFrame, "isEmpty").unwrap().since, Some(SparkVersion::new(3, 3, 0)));
        assert_eq!(entry(Class::DataFrame, "collect").unwrap().effect, Effect::Action(Run::Collect));
        assert_eq!(entry(Class::DataFrame, "iloc"), None);
        assert_eq!(Class::named("HiveContext"), Some(Class::SqlContext));
    }

    #[test]
    fn functions_are_found_in_any_case_of_sql() {
        assert!(is_aggregate("COUNT") && is_aggregate("Bool_And") && !is_aggregate("lower"));
        assert!(is_generator("EXPLODE") && !is_generator("explodes"));
        assert!(!is_aggregate(&"x".repeat(100)) && !is_aggregate("é"));
        assert_eq!(function("rand").unwrap().draws, Some(0));
        assert!(function("collect_set").unwrap().collects);
    }
}
