//! Every fix of every finding: the text after it parses, and the finding is gone.

use sparkls::conf::carriers::{CarrierKind, Tool};
use sparkls::conf::properties;
use sparkls::rules::{Edit, Finding, Fix, FixKind, fix};
use sparkls::text::Span;

use super::case::{Case, Document, Fixed, Language, facts};

/// Complaints on the fixes of one document.
pub(crate) fn complaints(case: &Case, document: &Document) -> Vec<String> {
    let before = case.analyse(document, &document.text).findings;
    let each_fix = |finding: &Finding| {
        finding.fixes.iter().filter_map(|fix| complaint(case, document, &before, finding, fix)).collect::<Vec<_>>()
    };
    before.iter().flat_map(each_fix).collect()
}

fn complaint(case: &Case, document: &Document, before: &[Finding], finding: &Finding, fix: &Fix) -> Option<String> {
    let fixed = fix::apply(&document.text, &fix.edits);
    let what = if fixed == document.text {
        "changes nothing"
    } else if overlap(fix) {
        "has edits that overlap"
    } else if broken(document.language, &fixed) > broken(document.language, &document.text) {
        "does not parse any more"
    } else if finding.rule != "misplaced-conf-argument"
        && applications(document.language, &fixed) != applications(document.language, &document.text)
    {
        "starts something else"
    } else if fix.kind == FixKind::QuickFix && !is_gone(case, document, before, finding, &fixed) {
        "leaves the finding"
    } else {
        return None;
    };
    let heading = format!("{}, block of line {}", case.name, document.line);
    Some(format!("{heading}\n[{}] after \"{}\" {what}:\n{fixed}", finding.rule, fix.title))
}

fn overlap(fix: &Fix) -> bool {
    let mut spans: Vec<_> = fix.edits.iter().map(|edit| edit.span).collect();
    spans.sort();
    spans.windows(2).any(|pair| pair[0].end > pair[1].start)
}

/// There is one finding of the rule less.
fn is_gone(case: &Case, document: &Document, before: &[Finding], finding: &Finding, fixed: &str) -> bool {
    let of_rule = |findings: &[Finding]| findings.iter().filter(|other| other.rule == finding.rule).count();
    let after = case.analyse(document, fixed).findings;
    of_rule(&after) < of_rule(before)
}

/// How many places of a text can't be read.
pub(crate) fn broken(language: Language, text: &str) -> usize {
    match language {
        Language::Python => broken_nodes(&tree_sitter_python::LANGUAGE.into(), text),
        Language::Sql => 0,
        Language::Properties => properties::read(text).problems.len(),
        Language::Carrier(kind) => grammar(kind).map_or(0, |grammar| broken_nodes(&grammar, text)),
    }
}

/// The grammar of a carrier's format, if it is read by one.
fn grammar(kind: CarrierKind) -> Option<tree_sitter::Language> {
    Some(match kind {
        CarrierKind::Shell => tree_sitter_bash::LANGUAGE.into(),
        CarrierKind::Makefile => tree_sitter_make::LANGUAGE.into(),
        CarrierKind::Dockerfile => tree_sitter_containerfile::LANGUAGE.into(),
        CarrierKind::Yaml => tree_sitter_yaml::LANGUAGE.into(),
        CarrierKind::Json | CarrierKind::Notebook => tree_sitter_json::LANGUAGE.into(),
        CarrierKind::Hcl => tree_sitter_hcl::LANGUAGE.into(),
        CarrierKind::Hocon => return None,
    })
}

/// The applications that a carrier submits, without places.
fn applications(language: Language, text: &str) -> Vec<String> {
    let facts = facts(language, &text.into());
    let submits = facts.submits().iter().filter(|submit| submit.tool == Tool::SparkSubmit);
    submits.filter_map(|submit| Some(submit.application.as_ref()?.text.clone())).collect()
}

fn broken_nodes(grammar: &tree_sitter::Language, text: &str) -> usize {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar).expect("the grammar fits");
    let tree = parser.parse(text, None).expect("no time limit is set");
    let mut cursor = tree.walk();
    let mut broken = 0;
    loop {
        let node = cursor.node();
        broken += usize::from(node.is_error() || node.is_missing());
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        while cursor.goto_parent() {
            if cursor.goto_next_sibling() {
                break;
            }
        }
        if cursor.depth() == 0 {
            return broken;
        }
    }
}

/// Rounds in which all safe fixes of a text come to rest.
const ROUNDS: usize = 5;

/// Complaints on the safe fixes of one document, all of them applied again and again, as `check --fix` does.
pub(crate) fn repeated(case: &Case, document: &Document) -> Vec<String> {
    let mut text = document.text.clone();
    let mut rounds = 0;
    loop {
        let next = fix::apply(&text, &safe(&case.analyse(document, &text).findings));
        if next == text {
            break;
        }
        text = next;
        rounds += 1;
        if rounds > ROUNDS {
            return vec![format!("{}: its fixes don't come to rest:\n{text}", case.name)];
        }
    }
    let breaks = broken(document.language, &text) > broken(document.language, &document.text);
    breaks.then(|| format!("{}: after all fixes it does not parse any more:\n{text}", case.name)).into_iter().collect()
}

/// The edits of the first safe fix of each finding that touches none before.
fn safe(findings: &[Finding]) -> Vec<Edit> {
    let mut taken: Vec<Edit> = Vec::new();
    for fix in findings.iter().filter_map(|finding| finding.fixes.iter().find(|fix| fix.safe)) {
        let apart = |edit: &Edit| taken.iter().all(|other| !other.span.intersects(edit.span));
        if fix.edits.iter().all(apart) {
            taken.extend(fix.edits.iter().cloned());
        }
    }
    taken
}

/// Complaints on fixes whose edits overlap or lie outside of the text.
pub(crate) fn misfits(case: &Case, document: &Document) -> Vec<String> {
    let fits = |fix: &Fix| !overlap(fix) && fix.edits.iter().all(|edit| document.text.get(edit.span.range()).is_some());
    let findings = case.analyse(document, &document.text).findings;
    let misfits = findings.iter().flat_map(|finding| &finding.fixes).filter(|fix| !fits(fix));
    misfits.map(|fix| format!("{}: \"{}\" does not fit:\n{}", case.name, fix.title, document.text)).collect()
}

/// Complaints on what is offered on each line of one document, besides fixes.
pub(crate) fn refactoring_complaints(case: &Case, document: &Document) -> Vec<String> {
    let mut start = 0;
    let mut complaints = Vec::new();
    for line in document.text.split_inclusive('\n') {
        let offered = case.refactorings(document, Span::new(start, start + line.trim_end().len()));
        complaints.extend(offered.iter().filter_map(|fix| refactoring_complaint(case, document, fix)));
        start += line.len();
    }
    complaints
}

fn refactoring_complaint(case: &Case, document: &Document, fix: &Fix) -> Option<String> {
    let fixed = fix::apply(&document.text, &fix.edits);
    let what = if overlap(fix) {
        "has edits that overlap"
    } else if broken(document.language, &fixed) > broken(document.language, &document.text) {
        "does not parse any more"
    } else {
        return None;
    };
    Some(format!("{}, block of line {}\nafter \"{}\" {what}:\n{fixed}", case.name, document.line, fix.title))
}

/// Complaints on the `fixed` blocks of one document: the text that a fix makes is the text that is shown.
pub(crate) fn shown(case: &Case, document: &Document) -> Vec<String> {
    let findings = case.analyse(document, &document.text).findings;
    let check = |fixed: &Fixed| {
        let heading = format!("{}, `fixed` block of line {}", case.name, fixed.line);
        let all: Vec<Fix> = match &fixed.at {
            Some(code) => {
                let at = document.text.find(code).expect("`at` is code of the block");
                case.refactorings(document, Span::new(at, at + code.len()))
            }
            None => findings.iter().flat_map(|finding| finding.fixes.clone()).collect(),
        };
        let candidates: Vec<&Fix> = all.iter().filter(|fix| fix.title == fixed.title).collect();
        if candidates.is_empty() {
            let titles: Vec<&str> = all.iter().map(|fix| fix.title.as_str()).collect();
            return Some(format!("{heading}: nothing called \"{}\" among {titles:#?}", fixed.title));
        }
        let texts: Vec<String> = candidates.iter().map(|fix| fix::apply(&document.text, &fix.edits)).collect();
        (!texts.contains(&fixed.text)).then(|| {
            let diff = similar::TextDiff::from_lines(fixed.text.as_str(), texts[0].as_str());
            let diff = diff.unified_diff().context_radius(20).header("shown", "made by the fix").to_string();
            format!("{heading}: \"{}\"\n{diff}", fixed.title)
        })
    };
    document.fixed.iter().filter_map(check).collect()
}
