//! What it costs to look a key up, to find what a mistyped one was meant to be, and to complete one, over every setting
//! that is known; each beside a plain scan over the same names. `cargo bench --bench lookup` prints both in one run.

use divan::{Bencher, black_box};
use serde_json::{Value, json};
use sparkls::catalog::{self, SparkVersion};

/// The first, one in the middle, the last, and one that nobody knows.
const KEYS: [&str; 4] =
    ["spark.acls.enable", "spark.sql.adaptive.skewJoin.enabled", "spark.yarn.user.jar", "spark.sql.no.such.key"];

/// A slip of the finger, a segment too few, and a name that is near nothing.
const MISTYPED: [&str; 3] =
    ["spark.sql.shufle.partitions", "spark.sql.adaptive.enabled.x", "spark.myapp.input.path.of.the.day"];

/// The first letters, a segment, letters in order, and nothing.
const TYPED: [&str; 4] = ["spark.sql.ad", "shuffle", "sqlshufpart", ""];

fn main() {
    // The table is read on first use; that is no part of a lookup.
    let names = catalog::settings().count();
    assert!(names > 2_000, "{names} settings");
    divan::main();
}

/// What a table of names without an index would be.
fn plain_table() -> Vec<(String, Value)> {
    catalog::settings().map(|facts| (facts.name().to_owned(), json!({ "since": facts.since() }))).collect()
}

mod exact {
    use super::*;

    #[divan::bench(args = KEYS)]
    fn catalogue(key: &str) -> bool {
        catalog::setting(black_box(key)).is_some()
    }

    #[divan::bench(args = KEYS)]
    fn plain_scan(bencher: Bencher<'_, '_>, key: &str) {
        let table = plain_table();
        bencher.bench_local(|| table.iter().find(|(name, _)| name == black_box(key)).is_some());
    }
}

mod mistyped {
    use super::*;

    #[divan::bench(args = MISTYPED)]
    fn catalogue(key: &str) -> usize {
        catalog::similar(black_box(key)).len()
    }

    #[divan::bench(args = MISTYPED)]
    fn plain_scan(bencher: Bencher<'_, '_>, key: &str) {
        let table = plain_table();
        let is_near = |name: &str| strsim::damerau_levenshtein(name, black_box(key)) <= 2;
        bencher.bench_local(|| table.iter().filter(|(name, _)| is_near(name)).count());
    }
}

mod completion {
    use super::*;

    #[divan::bench(args = TYPED)]
    fn catalogue(typed: &str) -> usize {
        catalog::complete(black_box(typed), SparkVersion::new(3, 5, 0)).names.len()
    }

    #[divan::bench(args = TYPED)]
    fn plain_scan(bencher: Bencher<'_, '_>, typed: &str) {
        let table = plain_table();
        let matches = |name: &str| {
            let mut letters = name.chars();
            typed.chars().all(|letter| letters.any(|other| other.eq_ignore_ascii_case(&letter)))
        };
        bencher.bench_local(|| {
            let mut found: Vec<&str> =
                table.iter().map(|(name, _)| name.as_str()).filter(|name| matches(name)).collect();
            found.sort_unstable();
            found.len()
        });
    }
}
