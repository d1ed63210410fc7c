//! Queries: from the parser's tree to steps, in the order in which Spark computes them.

use smallvec::SmallVec;
use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, GroupByExpr, LimitClause, NamedWindowExpr, Query, Select, SelectItem, SetExpr,
    SetOperator, SetQuantifier, TableWithJoins, WindowSpec,
};
use sqlparser::keywords::Keyword;

use super::expr::{Facts, column, number, operands, relation};
use super::hints::Hint;
use super::tokens::{Kind, Marks};
use super::{Lowered, Place, Step};
use crate::pyspark::plan::{Join, JoinCondition, Literal, Operator, Source};
use crate::pyspark::value::Relation;

/// Queries in queries beyond this are not read.
const DEPTH: usize = 60;

/// Where clauses of a query end.
const CLAUSES: [Keyword; 18] = [
    Keyword::FROM,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::ORDER,
    Keyword::SORT,
    Keyword::CLUSTER,
    Keyword::DISTRIBUTE,
    Keyword::LIMIT,
    Keyword::UNION,
    Keyword::EXCEPT,
    Keyword::MINUS,
    Keyword::INTERSECT,
    Keyword::WINDOW,
    Keyword::QUALIFY,
    Keyword::LATERAL,
    Keyword::SELECT,
    Keyword::OFFSET,
];

/// A text on its way to steps.
pub(super) struct Lowering<'m, 't> {
    pub(super) marks: &'m Marks<'t>,
    pub(super) out: Lowered,
    /// Common table expressions in force, the innermost last.
    pub(super) ctes: Vec<(String, usize)>,
    /// The last mark that was led to.
    pub(super) cursor: usize,
    depth: usize,
}

/// A select's table list, as its parts see it.
pub(super) struct Tables<'q> {
    pub(super) depth: u32,
    pub(super) hints: Vec<Hint>,
    pub(super) condition: Option<&'q Expr>,
}

impl<'m, 't> Lowering<'m, 't> {
    pub(super) fn new(marks: &'m Marks<'t>, from: usize) -> Self {
        Self { marks, out: Lowered::default(), ctes: Vec::new(), cursor: from, depth: 0 }
    }

    pub(super) fn step(&mut self, operator: Operator, inputs: &[usize], place: Place) -> usize {
        self.out.steps.push(Step { operator, inputs: SmallVec::from_slice(inputs), place });
        self.out.steps.len() - 1
    }

    /// The first of some keywords behind the cursor; the cursor moves there.
    pub(super) fn seek(&mut self, depth: u32, keywords: &[Keyword]) -> Option<usize> {
        let at = self.marks.find(self.cursor, depth, keywords)?;
        self.cursor = at;
        Some(at)
    }

    /// A clause from its keywords on.
    pub(super) fn place(&self, first: usize, words: usize, depth: u32, stops: &[Keyword]) -> Place {
        let last_word = first + words - 1;
        let last = self.end(last_word + 1, depth, stops).max(last_word);
        let inside = if last > last_word {
            self.marks.range(last_word + 1, last)
        } else {
            let end = self.marks.range(first, last_word).end;
            end..end
        };
        Place { word: self.marks.range(first, last_word), clause: self.marks.range(first, last), inside }
    }

    /// A place that is nothing but a word, or several.
    pub(super) fn word(&self, first: usize, last: usize) -> Place {
        let word = self.marks.range(first, last);
        Place { inside: word.end..word.end, clause: word.clone(), word }
    }

    /// The last mark before the next clause.
    fn end(&self, from: usize, depth: u32, stops: &[Keyword]) -> usize {
        let is_call = |at: usize| self.marks.marks.get(at + 1).is_some_and(|next| next.kind == Kind::Open);
        let mut last = from.saturating_sub(1);
        for (at, mark) in self.marks.marks.iter().enumerate().skip(from) {
            let closes = mark.kind == Kind::Close && mark.depth < depth || mark.kind == Kind::Semicolon;
            let stops_here = mark.depth == depth
                && match mark.kind {
                    Kind::Word(keyword @ (Keyword::LEFT | Keyword::RIGHT)) => stops.contains(&keyword) && !is_call(at),
                    Kind::Word(keyword) => CLAUSES.contains(&keyword) || stops.contains(&keyword),
                    Kind::Comma => stops.contains(&Keyword::JOIN),
                    _ => false,
                };
            if closes || mark.depth < depth || stops_here {
                break;
            }
            last = at;
        }
        last
    }

    /// The step whose rows a query returns.
    pub(super) fn query(&mut self, query: &Query) -> Option<usize> {
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let outer = self.ctes.len();
        if let Some(with) = &query.with {
            for cte in &with.cte_tables {
                let name = cte.alias.name.value.to_ascii_lowercase();
                if with.recursive {
                    let place = self.word(self.cursor, self.cursor);
                    let turn = self.step(Operator::Other("recursive".to_owned()), &[], place);
                    self.ctes.push((name.clone(), turn));
                }
                if let Some(root) = self.query(&cte.query) {
                    self.ctes.push((name, root));
                }
            }
        }
        let root = self.body(&query.body).map(|root| self.ordered(query, root));
        self.ctes.truncate(outer);
        self.depth -= 1;
        root
    }

    /// `ORDER BY` and `LIMIT` of a query.
    fn ordered(&mut self, query: &Query, mut root: usize) -> usize {
        let Some(depth) = self.depth_of(&query.body) else { return root };
        if query.order_by.is_some()
            && let Some(at) = self.seek(depth, &[Keyword::ORDER])
        {
            let place = self.place(at, 2, depth, &[]);
            root = self.step(Operator::Sort { global: true }, &[root], place);
        }
        let limit = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
            Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
            None => None,
        };
        if let Some(limit) = limit
            && let Some(at) = self.seek(depth, &[Keyword::LIMIT])
        {
            let rows = match number(limit) {
                Some(Literal::Integer(rows)) => u64::try_from(rows).ok(),
                _ => None,
            };
            let place = self.place(at, 1, depth, &[]);
            root = self.step(Operator::Limit(rows), &[root], place);
        }
        root
    }

    /// How many parentheses are open where a query's own clauses stand.
    fn depth_of(&self, body: &SetExpr) -> Option<u32> {
        let (mut body, mut outwards) = (body, 0);
        loop {
            match body {
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Query(inner) => {
                    outwards += 1;
                    body = &inner.body;
                }
                SetExpr::Select(select) => {
                    let at = self.marks.at(select.select_token.0.span.start)?;
                    return self.marks.marks[at].depth.checked_sub(outwards);
                }
                SetExpr::Values(values) => {
                    let at = self.marks.at(values.rows.first()?.opening_token.0.span.start)?;
                    return self.marks.marks[at].depth.checked_sub(outwards);
                }
                _ => return None,
            }
        }
    }

    /// A select, or several that are put together.
    fn body(&mut self, body: &SetExpr) -> Option<usize> {
        let (mut first, mut others) = (body, Vec::new());
        while let SetExpr::SetOperation { left, op, set_quantifier, right } = first {
            others.push((op, set_quantifier, right));
            first = left;
        }
        let depth = self.depth_of(first);
        let mut root = match first {
            SetExpr::Select(select) => self.select(select)?,
            SetExpr::Query(query) => self.query(query)?,
            SetExpr::Values(values) => self.values(values.rows.len(), self.cursor),
            _ => return None,
        };
        for (operator, quantifier, right) in others.into_iter().rev() {
            let keywords = [Keyword::UNION, Keyword::EXCEPT, Keyword::MINUS, Keyword::INTERSECT];
            let at = self.seek(depth.unwrap_or_default(), &keywords).unwrap_or(self.cursor);
            let place = self.word(at, at);
            let right = self.body(right)?;
            let keeps_all = matches!(quantifier, SetQuantifier::All | SetQuantifier::AllByName);
            root = match operator {
                SetOperator::Union => {
                    let union = self.step(Operator::Union { open: false }, &[root, right], place.clone());
                    if keeps_all { union } else { self.step(Operator::Distinct, &[union], place) }
                }
                _ => self.step(Operator::Distinct, &[root, right], place),
            };
        }
        Some(root)
    }

    /// Rows that stand in the text.
    pub(super) fn values(&mut self, rows: usize, at: usize) -> usize {
        let place = self.word(at, at);
        self.step(Operator::Source(Source::Local(Some(rows as u64))), &[], place)
    }

    fn select(&mut self, select: &Select) -> Option<usize> {
        let at = self.marks.at(select.select_token.0.span.start)?;
        let depth = self.marks.marks[at].depth;
        let tables = Tables { depth, hints: super::hints::after(self.marks, at), condition: select.selection.as_ref() };
        if self.cursor < at && select.flavor == sqlparser::ast::SelectFlavor::Standard {
            self.cursor = at;
        }
        let mut root = self.from(select, at, &tables)?;
        self.cursor = self.cursor.max(at);
        root = self.lateral_views(select, root, depth);
        let named = named_windows(select);
        if let Some(condition) = &select.selection
            && let Some(place) = self.seek(depth, &[Keyword::WHERE]).map(|at| self.place(at, 1, depth, &[]))
        {
            let mut facts = Facts::default();
            self.note(condition, &named, &mut facts);
            let conjuncts = operands(condition, &BinaryOperator::And);
            let key_equality = conjuncts.into_iter().any(|one| relation(one) == Relation::Key);
            root = self.step(Operator::Filter { key_equality }, &[root], place);
            self.used(&facts, root);
        }
        root = self.selected(select, at, root, &named);
        if matches!(select.distinct, Some(Distinct::Distinct))
            && let Some(at) = self.marks.find(at, depth, &[Keyword::DISTINCT])
        {
            let place = self.word(at, at);
            root = self.step(Operator::Distinct, &[root], place);
        }
        root = self.spread(select, root, depth);
        Some(self.partition_hints(&tables.hints, root))
    }

    /// The select list with its aggregates, windows and generators, and what is filtered after it.
    fn selected(&mut self, select: &Select, at: usize, input: usize, named: &[(String, WindowSpec)]) -> usize {
        let depth = self.marks.marks[at].depth;
        let mut facts = Facts::default();
        for item in &select.projection {
            if let SelectItem::UnnamedExpr(expr)
            | SelectItem::ExprWithAlias { expr, .. }
            | SelectItem::ExprWithAliases { expr, .. } = item
            {
                self.note(expr, named, &mut facts);
            }
        }
        let mut filtered = Facts::default();
        for expr in select.having.iter().chain(&select.qualify) {
            self.note(expr, named, &mut filtered);
        }
        let mut root = input;
        let keys = grouping_keys(select);
        let is_aggregate = keys.is_some() || facts.aggregate || select.having.is_some() && filtered.aggregate;
        if is_aggregate {
            let group = keys.as_ref().and_then(|_| self.seek(depth, &[Keyword::GROUP]));
            let place = match group {
                Some(group) => self.place(group, 2, depth, &[]),
                None => self.place(at, 1, depth, &[]),
            };
            let grouped = keys.is_some();
            let operator = Operator::Aggregate { keys: keys.unwrap_or_default(), grouped, pivot: None };
            root = self.step(operator, &[root], place);
            self.used(&facts, root);
        }
        if select.having.is_some()
            && let Some(place) = self.seek(depth, &[Keyword::HAVING]).map(|at| self.place(at, 1, depth, &[]))
        {
            root = self.step(Operator::Filter { key_equality: false }, &[root], place);
            self.used(&filtered, root);
        }
        for window in facts.windows.iter().chain(&filtered.windows) {
            self.out.windows[*window].used_on = Some(root);
        }
        if let Some(first) = facts.windowed.or(filtered.windowed) {
            let over = self.out.calls[first].over.as_ref().map(|over| over.place.clone());
            let place = over.map_or_else(
                || self.place(at, 1, depth, &[]),
                |over| Place { word: over.start..over.start + "over".len(), inside: over.clone(), clause: over },
            );
            root = self.step(Operator::Window, &[root], place);
            self.used(&facts, root);
            self.used(&filtered, root);
        } else if facts.explodes || !is_aggregate {
            let place = self.place(at, 1, depth, &[]);
            root = self.step(Operator::Project { only_aggregates: false, explodes: facts.explodes }, &[root], place);
            self.used(&facts, root);
        }
        if select.qualify.is_some()
            && let Some(place) = self.seek(depth, &[Keyword::QUALIFY]).map(|at| self.place(at, 1, depth, &[]))
        {
            root = self.step(Operator::Filter { key_equality: false }, &[root], place);
        }
        root
    }

    fn used(&mut self, facts: &Facts, step: usize) {
        for call in &facts.calls {
            self.out.calls[*call].used_in = Some(step);
        }
    }

    /// `DISTRIBUTE BY`, `SORT BY`, `CLUSTER BY`.
    fn spread(&mut self, select: &Select, mut root: usize, depth: u32) -> usize {
        let cluster = !select.cluster_by.is_empty();
        if (cluster || !select.distribute_by.is_empty())
            && let Some(at) = self.seek(depth, &[Keyword::CLUSTER, Keyword::DISTRIBUTE])
        {
            let place = self.place(at, 2, depth, &[]);
            root = self.step(Operator::Repartition { count: None, keyed: true }, &[root], place);
        }
        if (cluster || !select.sort_by.is_empty())
            && let Some(at) = self.seek(depth, &[Keyword::CLUSTER, Keyword::SORT])
        {
            let place = self.place(at, 2, depth, &[]);
            root = self.step(Operator::Sort { global: false }, &[root], place);
        }
        root
    }

    /// The rows that a select starts with.
    fn from(&mut self, select: &Select, at: usize, tables: &Tables<'_>) -> Option<usize> {
        let depth = tables.depth;
        if select.from.is_empty() {
            return Some(self.values(1, at));
        }
        self.seek(depth, &[Keyword::FROM]);
        let mut root = None;
        for table in &select.from {
            let comma = root.and_then(|_| self.comma(depth));
            let (right, names) = self.joined(table, tables)?;
            root = Some(match root {
                None => right,
                Some(left) => {
                    let condition = self.by_filter(tables.condition, &names, JoinCondition::Missing);
                    let condition = if is_lateral(table) { JoinCondition::Unknown } else { condition };
                    let place = comma.map_or_else(|| self.word(at, at), |comma| self.word(comma, comma));
                    let operator =
                        Operator::Join(Join { condition, kind: Some("inner".to_owned()), terms: Vec::new() });
                    self.step(operator, &[left, right], place)
                }
            });
        }
        root
    }

    fn comma(&mut self, depth: u32) -> Option<usize> {
        let rest = self.marks.marks.get(self.cursor..)?;
        let index = rest.iter().position(|mark| mark.kind == Kind::Comma && mark.depth == depth)?;
        self.cursor += index;
        Some(self.cursor)
    }

    fn lateral_views(&mut self, select: &Select, mut root: usize, depth: u32) -> usize {
        for view in &select.lateral_views {
            let Some(at) = self.seek(depth, &[Keyword::LATERAL]) else { return root };
            let mut facts = Facts::default();
            self.note(&view.lateral_view, &[], &mut facts);
            let place = self.place(at, if view.outer { 3 } else { 2 }, depth, &[]);
            self.cursor = at + 1;
            root = self.step(Operator::Project { only_aggregates: false, explodes: facts.explodes }, &[root], place);
            self.used(&facts, root);
        }
        root
    }
}

fn is_lateral(table: &TableWithJoins) -> bool {
    super::table::is_lateral(&table.relation)
}

fn named_windows(select: &Select) -> Vec<(String, WindowSpec)> {
    let spec = |window: &NamedWindowExpr| match window {
        NamedWindowExpr::WindowSpec(spec) => Some(spec.clone()),
        NamedWindowExpr::NamedWindow(_) => None,
    };
    select.named_window.iter().filter_map(|window| Some((window.0.value.clone(), spec(&window.1)?))).collect()
}

/// The grouping keys; `None` without `GROUP BY`.
fn grouping_keys(select: &Select) -> Option<Vec<Option<String>>> {
    let keys = match &select.group_by {
        GroupByExpr::All(_) => return Some(vec![None]),
        GroupByExpr::Expressions(keys, _) => keys,
    };
    let key = |key: &Expr| match number(key) {
        Some(Literal::Integer(place)) => match select.projection.get(usize::try_from(place).ok()?.checked_sub(1)?)? {
            SelectItem::UnnamedExpr(expr) => column(expr),
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        },
        _ => column(key),
    };
    (!keys.is_empty()).then(|| keys.iter().map(key).collect())
}
