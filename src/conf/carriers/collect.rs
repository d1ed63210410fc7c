//! Gathers what the readers find, also through the texts that stand inside one another.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::mapped::Mapped;
use super::{Extract, Problem, ProblemKind, Submit, Text, Tool};
use crate::conf::{Carrier, Setting, Value, template};
use crate::text::Span;

/// How many texts may stand inside one another: a shell command in JSON in a heredoc in Terraform.
const MAX_EMBEDDING: usize = 4;

/// Collects settings, each place once.
#[derive(Debug, Default)]
pub(super) struct Collector {
    extract: Extract,
    seen: FxHashMap<(Span, Span), usize>,
    seen_submits: FxHashSet<(Span, Tool)>,
    embedding: usize,
}

impl Collector {
    /// Adds a setting and says where it stands in the list; a place that was read before keeps its setting.
    pub(super) fn add(&mut self, setting: Setting) -> usize {
        let next = self.extract.settings.len();
        let index = *self.seen.entry((setting.key_span, setting.value_span)).or_insert(next);
        if index == next {
            self.extract.settings.push(setting);
        }
        index
    }

    /// Adds a job, each place once.
    pub(super) fn submit(&mut self, submit: Submit) {
        if self.seen_submits.insert((submit.span, submit.tool)) {
            self.extract.submits.push(submit);
        }
    }

    /// Notes settings that stand together; those of a job are told by the job.
    pub(super) fn group(&mut self, settings: &[usize]) {
        if !settings.is_empty() {
            self.extract.groups.push(settings.to_vec());
        }
    }

    /// Adds a problem, each place once.
    pub(super) fn problem(&mut self, kind: ProblemKind, span: Span, message: impl Into<String>) {
        if !self.extract.problems.iter().rev().take(64).any(|known| known.kind == kind && known.span == span) {
            self.extract.problems.push(Problem { span, kind, message: message.into() });
        }
    }

    /// Reads a text that stands inside the document and takes over what it holds, at its places in the document.
    pub(super) fn embedded(&mut self, text: &Mapped<'_>, read: impl FnOnce(&str, &mut Collector)) {
        if self.embedding >= MAX_EMBEDDING {
            return;
        }
        let mut inner = Self { embedding: self.embedding + 1, ..Self::default() };
        read(text.text(), &mut inner);
        let place = |span: Span| text.span(span.range());
        let indices: Vec<usize> = inner
            .extract
            .settings
            .into_iter()
            .map(|mut setting| {
                for span in [&mut setting.key_span, &mut setting.value_span, &mut setting.span] {
                    *span = place(*span);
                }
                self.add(setting)
            })
            .collect();
        for mut submit in inner.extract.submits {
            submit.span = place(submit.span);
            let texts = [&mut submit.application, &mut submit.properties_file, &mut submit.class];
            for text in texts.into_iter().flatten().chain(&mut submit.arguments) {
                text.span = place(text.span);
            }
            for span in &mut submit.after_application {
                *span = place(*span);
            }
            for index in &mut submit.settings {
                *index = indices[*index];
            }
            self.submit(submit);
        }
        for group in inner.extract.groups {
            self.group(&group.into_iter().map(|index| indices[index]).collect::<Vec<_>>());
        }
        for problem in inner.extract.problems {
            self.problem(problem.kind, place(problem.span), problem.message);
        }
    }

    /// The groups without what a job has, each setting in the largest group that it was told with.
    fn disjoint_groups(submits: &[Submit], mut groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let mut told: FxHashSet<usize> = submits.iter().flat_map(|submit| submit.settings.iter().copied()).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        for group in &mut groups {
            group.retain(|index| told.insert(*index));
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Everything, in source order.
    pub(super) fn finish(self) -> Extract {
        let Extract { settings, mut submits, groups, mut problems } = self.extract;
        let mut groups = Self::disjoint_groups(&submits, groups);
        let mut order: Vec<usize> = (0..settings.len()).collect();
        order.sort_by_key(|&index| (settings[index].key_span, settings[index].value_span));
        let mut places = vec![0; settings.len()];
        for (place, &index) in order.iter().enumerate() {
            places[index] = place;
        }
        let of_jobs = submits.iter_mut().flat_map(|submit| &mut submit.settings);
        for index in of_jobs.chain(groups.iter_mut().flatten()) {
            *index = places[*index];
        }
        let mut settings: Vec<(usize, Setting)> = places.into_iter().zip(settings).collect();
        settings.sort_by_key(|(place, _)| *place);
        submits.sort_by_key(|submit| submit.span);
        problems.sort_by_key(|problem| problem.span);
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort();
        Extract { settings: settings.into_iter().map(|(_, setting)| setting).collect(), submits, groups, problems }
    }
}

/// A setting whose key and value are parts of one text (`key=value`).
pub(super) fn pair(text: &Mapped<'_>, key: Range<usize>, value: Range<usize>, carrier: Carrier, span: Span) -> Setting {
    let part = |range: &Range<usize>| text.text().get(range.clone()).unwrap_or_default();
    Setting {
        key: part(&key).to_owned(),
        key_is_prefix: false,
        value: literal_or_template(part(&value), false),
        key_span: text.span(key),
        value_span: text.span(value),
        span,
        carrier,
    }
}

/// A value as Spark receives it, unless something fills in a part of it first.
pub(super) fn literal_or_template(text: &str, has_holes: bool) -> Value {
    if has_holes || template::placeholder(text).is_some() { Value::Template } else { Value::Literal(text.to_owned()) }
}

impl Text {
    /// A text with its place.
    pub(super) fn of(text: &Mapped<'_>, has_holes: bool) -> Self {
        Self {
            text: text.text().to_owned(),
            span: text.whole(),
            is_template: has_holes || template::placeholder(text.text()).is_some(),
        }
    }
}
