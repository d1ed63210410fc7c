//! Every rule against its fixture (`tests/rules/<slug>.md`) and against the examples in its documentation.
//!
//! `SPARKLS_FIXTURE=collect cargo test --test rules` runs the fixtures whose file name contains `collect`.

#![allow(clippy::unwrap_used)]

mod harness;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use harness::case::{self, Case, Document, Language};
use harness::check::{self, Variant};
use harness::{cases, docs, expect_none, fixes};
use rayon::prelude::*;
use sparkls::conf::carriers;
use sparkls::pyspark::PythonFile;
use sparkls::rules::{self, Check};
use sparkls::text::{Edit, Encoding, Point};

fn for_each_document(complain: impl Fn(&Case, &Document) -> Vec<String>) {
    let complain = &complain;
    let complaints: Vec<String> = cases()
        .iter()
        .flat_map(|case| case.documents.iter().flat_map(move |document| complain(case, document)).collect::<Vec<_>>())
        .collect();
    expect_none(&complaints);
}

fn findings_are_as_marked(variant: &Variant) {
    for_each_document(|case, document| check::findings(case, document, variant).into_iter().collect());
}

#[test]
fn findings_are_where_the_markers_say() {
    findings_are_as_marked(&check::AS_WRITTEN);
}

#[test]
fn findings_do_not_depend_on_line_ends() {
    findings_are_as_marked(&check::CRLF);
}

#[test]
fn findings_do_not_depend_on_a_byte_order_mark() {
    findings_are_as_marked(&check::BOM);
}

#[test]
fn findings_do_not_depend_on_wide_characters_before_them() {
    findings_are_as_marked(&check::EMOJI);
}

#[test]
fn every_fix_parses_and_its_finding_is_gone() {
    for_each_document(fixes::complaints);
}

#[test]
fn safe_fixes_come_to_rest() {
    for_each_document(fixes::repeated);
}

#[test]
fn every_refactoring_parses() {
    for_each_document(fixes::refactoring_complaints);
}

#[test]
fn fixes_make_the_text_that_is_shown() {
    for_each_document(fixes::shown);
}

/// Typed as in an editor, one character after the other, a text has the plan that it has when it is opened.
#[test]
fn texts_may_be_typed_character_by_character() {
    let texts: BTreeSet<String> = cases()
        .into_iter()
        .flat_map(|case| case.documents)
        .filter(|document| document.language == Language::Python)
        .map(|document| document.text)
        .collect();
    let complain = |text: &String| {
        let opened = PythonFile::parse(&Arc::from(text.as_str()));
        let same = format!("{:?}", typed(text).plan()) == format!("{:?}", opened.plan());
        (!same).then(|| format!("another plan when typed:\n{text}"))
    };
    expect_none(&texts.par_iter().filter_map(complain).collect::<Vec<_>>());
}

fn typed(text: &str) -> PythonFile {
    text.char_indices().fold(PythonFile::default(), |file, (at, character)| {
        let end = at + character.len_utf8();
        let point = Point::default();
        let edit = Edit {
            start: at,
            old_end: at,
            new_end: end,
            start_point: point,
            old_end_point: point,
            new_end_point: point,
        };
        file.edited(&[edit], &Arc::from(&text[..end]))
    })
}

/// An editor counts columns in bytes, in UTF-16 or in characters: a finding is at one place in all of them.
#[test]
fn findings_have_their_place_in_every_encoding() {
    for_each_document(|case, document| {
        let text = format!("# \u{1f525} é\n{}", document.text);
        let lines = sparkls::text::Document::new(0, &text);
        let findings = case.analyse(document, &text).findings;
        let spans = findings.iter().flat_map(|finding| {
            let edits = finding.fixes.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
            edits.chain([finding.span]).collect::<Vec<_>>()
        });
        let moves = |offset: u32, encoding| {
            lines.offset(lines.position(offset as usize, encoding), encoding) != offset as usize
        };
        let encodings = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];
        spans
            .filter(|span| encodings.iter().any(|encoding| moves(span.start, *encoding) || moves(span.end, *encoding)))
            .map(|span| format!("{}: {span:?} moves with the encoding", case.name))
            .collect()
    });
}

/// What an editor holds most of the time: a text that ends in the middle of something.
#[test]
fn half_written_texts_are_analysed_and_their_fixes_fit() {
    for_each_document(|case, document| {
        let text = &document.text;
        let cuts = (0..text.len()).step_by(17).filter(|&at| text.is_char_boundary(at));
        cuts.flat_map(|at| {
            let half = Document {
                text: text[..at].to_owned(),
                path: document.path.clone(),
                ..Document::new(document.language)
            };
            fixes::misfits(case, &half)
        })
        .collect()
    });
}

#[test]
fn examples_in_the_documentation_hold() {
    let complaints: Vec<String> = rules::all().flat_map(docs::complaints).collect();
    expect_none(&complaints);
}

#[test]
fn fixes_of_the_documented_examples_hold() {
    let complain = |rule| {
        let case = docs::example(rule, "Example").case;
        case.documents.iter().flat_map(|document| fixes::complaints(&case, document)).collect::<Vec<_>>()
    };
    expect_none(&rules::all().flat_map(complain).collect::<Vec<_>>());
}

/// The documents that the readers of carriers are held against, as cases of their own.
fn carriers() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/carriers");
    let mut folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.iter().map(|folder| carrier(folder)).collect()
}

fn carrier(folder: &Path) -> Case {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let input = files.into_iter().find(|path| !path.ends_with("expected.txt")).unwrap();
    let text = std::fs::read_to_string(&input).unwrap();
    let language = match carriers::kind_of(&input, &text, None) {
        Some(kind) => Language::Carrier(kind),
        None => Language::Python,
    };
    let path = input.file_name().unwrap().to_string_lossy().into_owned();
    let mut case = Case::new(&folder.file_name().unwrap().to_string_lossy());
    case.documents.push(Document { path, text, ..Document::new(language) });
    case
}

#[test]
fn fixes_in_every_carrier_parse_and_their_findings_are_gone() {
    let complain = |case: &Case| fixes::complaints(case, &case.documents[0]);
    expect_none(&carriers().iter().flat_map(complain).collect::<Vec<_>>());
}

#[test]
fn every_rule_on_settings_or_code_has_a_fixture() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let missing = rules::all()
        .filter(|rule| !matches!(rule.check, Check::Run(_)))
        .map(|rule| format!("tests/rules/{}.md", rule.name))
        .filter(|name| !folder.join(name.trim_start_matches("tests/rules/")).exists());
    expect_none(&missing.collect::<Vec<_>>());
}

/// The harness itself: what is wrong is said at its place.
#[test]
fn a_marker_without_finding_is_a_complaint() {
    let cases = case::read("f.md", "# t\n```py\nrows = df\n#      ^^ warning[collect-unbounded]: 1g\n```\n");
    let document = &cases[0].documents[0];
    assert_eq!(document.text, "rows = df\n");
    assert_eq!((document.expected[0].place.start, document.expected[0].place.end), (7, 9));
    let complaint = check::findings(&cases[0], document, &check::AS_WRITTEN).expect("nothing is found there");
    assert!(complaint.contains("\n    rows = df\n  - #      ^^ warning[collect-unbounded]: 1g"), "{complaint}");
}

#[test]
fn a_marker_at_the_start_of_a_line_counts_its_hash() {
    let cases = case::read("f.md", "```conf\nspark.a 1\n#^^^^^^ hint[unknown-key]\n```\n");
    let place = cases[0].documents[0].expected[0].place;
    assert_eq!((place.line, place.start, place.end), (0, 0, 7));
}
