//! Comments to sparkls that say nothing: no finding there, no rule of that name.

use super::{Comments, Line, comment_of, lists};
use crate::rules::conf::UNUSED_SUPPRESSION as RULE;
use crate::rules::{self, Check, Edit, Finding, Fix, FixKind, RuleSettings, Severity};
use crate::text::Span;

/// A rule that a comment names.
struct Named<'a> {
    slug: &'a str,
    span: Span,
    /// The place of the slug in its list, and how many there are.
    place: (usize, usize),
    /// What stands between the brackets.
    list: Span,
    /// `sparkls:` of it.
    marker: u32,
    line: &'a Line,
}

impl Comments<'_> {
    /// The comments that name rules which found nothing there, or that are no rules. Of a rule that is off, or that needs
    /// a run where there is none, nothing is known.
    pub(in super::super) fn unused(&self, settings: &RuleSettings, has_runs: bool) -> Vec<Finding> {
        let named = self.named().into_iter().filter_map(|named| self.judge(&named, settings, has_runs));
        named.chain(self.nameless()).collect()
    }

    /// Comments such as `# sparkls: ignore`, which look as if they did something.
    fn nameless(&self) -> Vec<Finding> {
        let comments = self.commented.iter().filter_map(|&line| {
            let line = &self.lines[line];
            Some((line.comment?, comment_of(self.text, line)?))
        });
        comments.filter_map(|(start, comment)| nameless(start, comment)).collect()
    }

    fn judge(&self, named: &Named<'_>, settings: &RuleSettings, has_runs: bool) -> Option<Finding> {
        let found = |message, fixes| {
            let mut finding = Finding::new(&RULE, Severity::Hint, named.span, message);
            finding.unnecessary = true;
            Some(finding.with_fixes(fixes))
        };
        let slug = named.slug;
        let Some(rule) = rules::find(slug) else {
            let nearest = nearest(slug);
            let meant = nearest.map(|name| format!("; `{name}` is one")).unwrap_or_default();
            let rename = nearest.map(|name| Fix {
                title: format!("Name {name} instead"),
                kind: FixKind::QuickFix,
                safe: false,
                edits: vec![Edit { span: named.span, text: name.to_owned() }],
            });
            let message = format!("There is no rule `{slug}`{meant}: this comment ignores nothing.");
            return found(message, rename.into_iter().chain([self.removal(named, false)]).collect::<Vec<_>>());
        };
        let is_silent_anyway = matches!(rule.check, Check::Run(_)) && !has_runs;
        let is_used = self.used.borrow().contains(&named.span.start);
        if is_used || is_silent_anyway || rule.name == RULE.name || !super::super::is_on(rule, settings) {
            return None;
        }
        let message = format!("`{slug}` finds nothing here any more: this comment can go.");
        found(message, vec![self.removal(named, true)])
    }

    /// Takes a rule off its list; the last one with the comment.
    fn removal(&self, named: &Named<'_>, safe: bool) -> Fix {
        let title = format!("Remove {} from the comment", named.slug);
        let edits = vec![Edit { span: self.removed(named), text: String::new() }];
        Fix { title, kind: FixKind::QuickFix, safe, edits }
    }

    fn removed(&self, named: &Named<'_>) -> Span {
        let (place, count) = named.place;
        let list = named.list.of(self.text);
        let at = (named.span.start - named.list.start) as usize;
        if count > 1 {
            // With the comma behind it, or of the last one with the comma before.
            let behind = list[at..].find(',').map(|comma| {
                let next = at + comma + 1;
                next + (list[next..].len() - list[next..].trim_start().len())
            });
            let (start, end) = match behind {
                Some(next) => (at, next),
                None => (list[..at].rfind(',').filter(|_| place > 0).unwrap_or(at), at + named.slug.len()),
            };
            let from = named.list.start as usize;
            return Span::new(from + start, from + end);
        }
        let line = named.line.span;
        let comment = named.line.comment.unwrap_or(named.marker);
        let end = named.list.end + 1;
        // Another comment may follow, and one may stand before it.
        let rest = Span { start: end, end: line.end.max(end) }.of(self.text);
        let end = rest.find('#').map_or(line.end, |next| end + next as u32);
        let before = Span { start: comment, end: named.marker }.of(self.text);
        if before.trim_matches(['#', '/', '!', '-', ' ', '\t']).is_empty() {
            let goes = Span { start: comment, end };
            return if end == line.end { self.with_blanks(named.line, goes) } else { goes };
        }
        let before = before.trim_end().len() as u32;
        Span { start: comment + before, end }
    }

    /// A comment with the blanks in front of it, or with its line if nothing else is there.
    fn with_blanks(&self, line: &Line, comment: Span) -> Span {
        let before = Span { start: line.span.start, end: comment.start }.of(self.text);
        let kept = before.trim_end_matches([' ', '\t']);
        if !kept.trim_start_matches('\u{feff}').is_empty() {
            return Span { start: line.span.start + kept.len() as u32, end: comment.end };
        }
        let start = line.span.start + kept.len() as u32;
        let bytes = self.text.as_bytes().get(comment.end as usize..).unwrap_or_default();
        let line_end = match bytes {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        Span { start, end: comment.end + line_end }
    }

    /// Every rule that a comment names, in source order.
    fn named(&self) -> Vec<Named<'_>> {
        let mut named = Vec::new();
        for line in self.commented.iter().map(|line| &self.lines[*line]) {
            let (Some(start), Some(comment)) = (line.comment, comment_of(self.text, line)) else { continue };
            for list in ["ignore", "ignore-file"].into_iter().flat_map(|verb| lists(comment, verb)) {
                let at = start + list.at as u32;
                let count = list.slugs().count();
                named.extend(list.slugs().enumerate().map(|(place, (offset, slug))| Named {
                    slug,
                    span: Span::new(at as usize + offset, at as usize + offset + slug.len()),
                    place: (place, count),
                    list: Span::new(at as usize, at as usize + list.text.len()),
                    marker: start + list.marker as u32,
                    line,
                }));
            }
        }
        named
    }
}

/// A comment that starts with `sparkls: ignore` and has no list of rules behind it.
fn nameless(start: u32, comment: &str) -> Option<Finding> {
    const MARKER: &str = "sparkls:";
    let marker = comment.find(MARKER)?;
    let word = comment[marker + MARKER.len()..].trim_start();
    let says_ignore = word.get(..6).is_some_and(|verb| verb.eq_ignore_ascii_case("ignore"));
    let is_command = comment[..marker].trim_end().ends_with(['#', '/', '!', '-']);
    let has_names = ["ignore", "ignore-file"]
        .into_iter()
        .flat_map(|verb| lists(comment, verb))
        .any(|list| list.slugs().count() > 0);
    if !says_ignore || !is_command || has_names {
        return None;
    }
    let is_file = word.get(6..11).is_some_and(|rest| rest.eq_ignore_ascii_case("-file"));
    let verb = if is_file { "ignore-file" } else { "ignore" };
    let message = format!("This comment names no rule, so it ignores nothing. Name one: sparkls: {verb}[rule].");
    let end = comment.len() - word.len() + if is_file { 11 } else { 6 };
    let span = Span::new(start as usize + marker, start as usize + end);
    Some(Finding::new(&RULE, Severity::Hint, span, message))
}

fn nearest(slug: &str) -> Option<&'static str> {
    let near = rules::all().map(|rule| (strsim::osa_distance(slug, rule.name), rule.name)).min()?;
    (near.0 <= 1 + slug.len() / 4).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::super::Syntax;
    use super::*;

    /// The messages, and the text after the last fix of the first finding.
    fn unused(text: &str, syntax: Syntax) -> (Vec<String>, String) {
        let comments = Comments::read(text, syntax);
        let found = comments.unused(&RuleSettings::default(), false);
        let fixed =
            found.first().and_then(|finding| finding.fixes.last()).map(|fix| rules::fix::apply(text, &fix.edits));
        (found.into_iter().map(|finding| finding.message).collect(), fixed.unwrap_or_default())
    }

    #[test]
    fn a_comment_goes_with_its_reason_its_blanks_or_its_line() {
        for (text, fixed) in [
            ("x = 1  # sparkls: ignore[cartesian-join] small\ny", "x = 1\ny"),
            ("    # sparkls: ignore[cartesian-join]\r\n    x", "    x"),
            ("\u{feff}# sparkls: ignore-file[cartesian-join]\nx", "\u{feff}x"),
            ("x  # sparkls: ignore[cartesian-join]  # noqa: E501", "x  # noqa: E501"),
            ("x  # ten rows, sparkls: ignore[cartesian-join]", "x  # ten rows,"),
            ("x  # sparkls: ignore[cartesian-join, spill] y", "x  # sparkls: ignore[spill] y"),
            ("x  # sparkls: ignore[ spill , cartesian-join ]", "x  # sparkls: ignore[ spill  ]"),
        ] {
            assert_eq!(unused(text, Syntax::Python).1, fixed);
        }
        let text = "spark.a 1\n! sparkls: ignore[cartesian-join]\nspark.b 2";
        assert_eq!(unused(text, Syntax::Properties).1, "spark.a 1\nspark.b 2");
    }

    #[test]
    fn what_is_no_rule_says_what_was_meant() {
        let (messages, _) = unused("x  # sparkls: ignore[cartesian-jion, quite-another]", Syntax::Python);
        assert_eq!(messages.len(), 2);
        assert!(messages[0].contains("`cartesian-join` is one"), "{messages:?}");
        assert_eq!(messages[1], "There is no rule `quite-another`: this comment ignores nothing.");
    }

    #[test]
    fn rules_that_are_off_or_lack_a_run_are_not_judged() {
        let off = rules::all().find(|rule| rule.off).map_or("unpinned-spark-version", |rule| rule.name);
        let text = format!("x  # sparkls: ignore[spill, {off}, unused-suppression]");
        let (messages, _) = unused(&text, Syntax::Python);
        assert!(messages.iter().all(|message| message.contains("unpinned")), "{messages:?}");
    }
}
