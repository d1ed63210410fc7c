//! What is known after edits is what a fresh reading of the text gives: the tree, the plan, and the findings.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use sparkls::analysis::{Analysis, Facts};
use sparkls::pyspark::PythonFile;
use sparkls::text::{Edit, Point};
use sparkls::workspace::{self, Project, Settings};

/// Python of the fixtures for plans and for rules.
fn texts() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let plans = files("tests/plan", "py").into_iter().map(|path| std::fs::read_to_string(path).unwrap());
        let blocks = files("tests/rules", "md").into_iter().flat_map(|path| {
            let fixture = std::fs::read_to_string(path).unwrap();
            let blocks = fixture.split("\n```python").skip(1).filter_map(|part| {
                let (_, block) = part.split_once('\n')?;
                block.split("\n```").next().map(str::to_owned)
            });
            blocks.collect::<Vec<_>>()
        });
        plans.chain(blocks).collect()
    })
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    paths.sort();
    paths
}

/// What somebody types into a job, whole and half.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "\n",
        "    ",
        "(",
        ")",
        "[",
        "\"",
        "'''",
        "#",
        ":",
        "é😀",
        ".cache()",
        ".collect()",
        ".limit(3)",
        ".repartition(4)",
        "df",
        "spark",
        "return ",
        "\ndf = spark.table('t')\n",
        "\nfor x in range(9):\n    df = df.union(df)\n",
        "\ndef f(df):\n    return df.join(spark.table('u'), 'k').cache()\n",
        "\nf(spark.table('t')).count()\n",
        "\nglobal df\n",
        "\nimport pandas as spark\n",
        "\nspark.conf.set('spark.sql.shuffle.partitions', 'x')\n",
        "  # sparkls: ignore-file[collect-unbounded]\n",
        "",
    ];
    prop_oneof![proptest::sample::select(words.to_vec()).prop_map(str::to_owned), "[a-z.=() ]{0,6}"]
}

fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

fn edited(file: &PythonFile, start: usize, end: usize, insert: &str) -> PythonFile {
    let mut text = file.text().to_string();
    text.replace_range(start..end, insert);
    let (point, new_end) = (Point::default(), start + insert.len());
    let edit = Edit { start, old_end: end, new_end, start_point: point, old_end_point: point, new_end_point: point };
    file.edited(&[edit], &Arc::from(text.as_str()))
}

fn analysis(file: &PythonFile) -> Analysis {
    let project = Project::without_folder(&Settings::default());
    let facts = Facts::Python(Arc::clone(file.plan()));
    workspace::analyse(&project, Path::new("jobs/job.py"), file.text(), &facts, &[])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn edits_give_what_a_fresh_analysis_gives(
        parts in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        edits in prop::collection::vec((0.0..1.0_f64, 0..40_usize, piece()), 1..10),
    ) {
        let parts: Vec<&str> = parts.iter().map(|part| part.get(texts()).as_str()).collect();
        let mut file = PythonFile::parse(&Arc::from(parts.join("\n\n")));
        for (place, length, insert) in edits {
            let text = Arc::clone(file.text());
            let start = boundary(&text, (place * text.len() as f64) as usize);
            let end = boundary(&text, start + length).max(start);
            file = edited(&file, start, end, &insert);
            let fresh = PythonFile::parse(file.text());
            prop_assert_eq!(file.tree_text(), fresh.tree_text());
            prop_assert_eq!(format!("{:?}", file.plan()), format!("{:?}", fresh.plan()));
            prop_assert_eq!(analysis(&file), analysis(&fresh));
        }
    }
}
