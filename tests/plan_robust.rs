//! No text breaks the reader: edits give what a fresh parse gives, and neither depth nor size nor noise stops it.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use sparkls::pyspark::PythonFile;
use sparkls::pyspark::plan::Operator;
use sparkls::text::Edit;

fn parse(text: &str) -> PythonFile {
    PythonFile::parse(&Arc::from(text))
}

/// Replaces a range of bytes and reads the text again from what was known.
fn edit(file: &PythonFile, start: usize, end: usize, insert: &str) -> PythonFile {
    let mut text = file.text().to_string();
    text.replace_range(start..end, insert);
    let point = sparkls::text::Point::default();
    let edit = Edit {
        start,
        old_end: end,
        new_end: start + insert.len(),
        start_point: point,
        old_end_point: point,
        new_end_point: point,
    };
    file.edited(&[edit], &Arc::from(text.as_str()))
}

fn assert_same(edited: &PythonFile) {
    let fresh = PythonFile::parse(edited.text());
    assert_eq!(edited.tree_text(), fresh.tree_text(), "trees differ for {:?}", edited.text());
    assert_eq!(format!("{:?}", edited.plan()), format!("{:?}", fresh.plan()), "plans differ for {:?}", edited.text());
}

fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Pieces that change the structure of what stands around them.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("    ".to_owned()),
        Just("(".to_owned()),
        Just(")".to_owned()),
        Just("[".to_owned()),
        Just("\"".to_owned()),
        Just("'''".to_owned()),
        Just("#".to_owned()),
        Just(":".to_owned()),
        Just("é😀".to_owned()),
        Just("\ndf = spark.table('t')\n".to_owned()),
        Just("for x in y:\n    df.count()\n".to_owned()),
        Just(".collect()".to_owned()),
        Just("def f(df):\n".to_owned()),
        Just(String::new()),
        "[a-z.=() ]{0,6}",
    ]
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn edits_give_what_a_fresh_parse_gives(
        fixture in 0..64_usize,
        edits in prop::collection::vec((0.0..1.0_f64, 0..12_usize, piece()), 1..8),
    ) {
        let fixtures = fixtures();
        let mut file = parse(&fixtures[fixture % fixtures.len()]);
        for (place, length, insert) in edits {
            let text = file.text().clone();
            let start = boundary(&text, (place * text.len() as f64) as usize);
            let end = boundary(&text, start + length).max(start);
            file = edit(&file, start, end, &insert);
            assert_same(&file);
        }
    }

    #[test]
    fn any_text_has_a_plan(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn any_cut_has_a_plan(fixture in 0..64_usize, from in 0.0..1.0_f64, to in 0.0..1.0_f64) {
        let fixtures = fixtures();
        let text = &fixtures[fixture % fixtures.len()];
        let (a, b) = ((from * text.len() as f64) as usize, (to * text.len() as f64) as usize);
        let (start, end) = (boundary(text, a.min(b)), boundary(text, a.max(b)));
        let file = parse(&text[start..end]);
        for offset in [0, (end - start) / 2, end - start] {
            let _ = file.string_at(boundary(file.text(), offset));
        }
        let _ = file.outline();
    }
}

/// Runs on a stack as small as that of a server's worker thread.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_is_read_up_to_a_depth() {
    on_a_small_stack(|| {
        const DEPTH: usize = 20_000;
        let tail = "\ndf = spark.table('t')\n";
        for (open, close) in [
            ("(", ")"),
            ("[", "]"),
            ("f(", ")"),
            ("{1: ", "}"),
            ("not ", ""),
            ("-", ""),
            ("lambda: ", ""),
            ("x if y else ", ""),
        ] {
            let file = parse(&format!("x = {}1{}{tail}", open.repeat(DEPTH), close.repeat(DEPTH)));
            let _ = (file.outline(), file.string_at(10));
        }
        let _ = parse(&"(".repeat(DEPTH));
        let blocks: String = (0..500).map(|level| format!("{}if x:\n", " ".repeat(level))).collect();
        let _ = parse(&format!("{blocks}{}df.count()\n", " ".repeat(500)));
    });
}

#[test]
fn long_chains_are_read_to_the_end() {
    on_a_small_stack(|| {
        let sum = vec!["a"; 20_000].join(" + ");
        let file = parse(&format!("x = {sum}\ndf = spark.table('t')\n"));
        assert_eq!(file.plan().bindings.len(), 1);
        let chain = ".withColumn('a', b)".repeat(3_000);
        let file = parse(&format!("df = spark.table('t'){chain}.limit(3)\n"));
        assert_eq!(file.plan().nodes.len(), 3_002);
        let file = parse(&format!("{}spark.table('t')\n", "a = ".repeat(5_000)));
        assert!(!file.plan().bindings.is_empty());
    });
}

#[test]
fn one_long_line_is_read() {
    let list = vec!["'0123456789'"; 150_000].join(", ");
    let file = parse(&format!("x = [{list}]\ndf = spark.table('t')\n"));
    assert_eq!(file.plan().bindings.len(), 1);
}

#[test]
fn calls_that_multiply_end() {
    let mut text = String::from("def f0(df):\n    return df.count()\n");
    for level in 1..40 {
        let below = level - 1;
        text.push_str(&format!(
            "def f{level}(df):\n    f{below}(df.limit(1))\n    f{below}(df.limit(2))\n    return df\n"
        ));
    }
    text.push_str("f39(spark.table('t'))\n");
    let file = parse(&text);
    assert!(file.plan().nodes.len() < 100_000);
    assert!(file.plan().nodes.iter().any(|node| matches!(node.operator, Operator::Limit(_))));
}

#[test]
fn names_that_multiply_end() {
    let mut text = String::from("a0 = {'spark.a': '1'}\nc0 = 'spark.x'\n");
    for level in 1..40 {
        let below = level - 1;
        text.push_str(&format!("a{level} = [a{below}, a{below}]\nc{level} = f'{{c{below}}}{{c{below}}}'\n"));
    }
    text.push_str("submit(conf=a39, name=c39, **a39)\n");
    text.push_str("long = '--conf spark.b=2 ");
    text.push_str(&"x".repeat(200_000));
    text.push_str("'\nrun([");
    text.push_str(&"long, f'{long}', ".repeat(2_000));
    text.push_str("])\nself_made = {**self_made, 'spark.c': self_made}\nrun(self_made)\n");
    let file = parse(&text);
    assert!(file.plan().settings.iter().any(|setting| setting.key == "spark.a"));
    assert!(file.plan().settings.len() < 100);
}

#[test]
fn recursion_ends() {
    let file = parse(
        "def f(df):\n    return f(df.limit(1))\nf(spark.table('t')).count()\nclass A(A):\n    def m(self):\n        self.m()\nA().m()\n",
    );
    assert!(file.plan().nodes.len() < 100);
}

#[test]
fn errors_are_recovered_from_as_a_fresh_parse_does() {
    for text in fixtures() {
        let at = |text: &str, share: f64| boundary(text, (share * text.len() as f64) as usize);
        let open = edit(&parse(&text), at(&text, 0.26), at(&text, 0.26), "'''");
        assert_same(&open);
        let place = at(open.text(), 0.44);
        assert_same(&edit(&open, place, place, "\ndf = spark.table('t')\n"));
    }
}
