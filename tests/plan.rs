//! The static plan by example: `tests/plan/*.py`, and projects of several modules: the folders in `tests/plan`.
//!
//! A fixture is a Python file; a comment `#> fact; fact` at a line's end says what the plan holds of that line. Each fact
//! must be among those that [`facts`] writes down for the line; `silent` means that there are none, `no FACT` that this one
//! is missing. Facts, by the line of the method's, name's or key's first character:
//!
//! | fact | meaning |
//! | --- | --- |
//! | `collect: unbounded` | an action by its method's name, and its input's row bound: `exactly 10`, `small`, `by-groups`, `unknown`, `unbounded`; `no input` if only the call is known |
//! | `collect from given` | its input may be a parameter of which nothing but its type is known |
//! | `collect in loop`, `collect conditional`, `collect cached`, `collect on rdd` | more of the action; cached: its input or what that is computed from |
//! | `collect result discarded` | what becomes of the result: `discarded`, `iterated`, `indexed`, `bound NAME`, `returned`, `used` |
//! | `collect once` | the action's innermost loop runs once |
//! | `writes parquet to out mode append` | a write's format, target and mode as far as known (`?`) |
//! | `writer partitionBy` | a call that sets the writer up |
//! | `df: frame unbounded` | a name that is bound to a frame, with its row bound |
//! | `limit(10)`, `join left using [k]`, … | an operator, see [`operator`] |
//! | `key k = id`, `key computed = ?` | an equality that a join's condition needs, by the columns' names |
//! | `left broadcast`, `right broadcast` | a join's side that has the hint |
//! | `carried withColumn`, `fresh withColumn` | an operator in a loop that builds on (does not build on) a variable of that loop |
//! | `conditional withColumn` | an operator under an `if` in its loop or function |
//! | `loop literal 3`, `loop rows unbounded`, … | a loop, by what it runs over; then `once` and `retries` |
//! | `comprehension …` | the same of a comprehension |
//! | `discarded broadcast` | a transformation whose result nothing uses |
//! | `unpersist df` | a frame that is released |
//! | `window partitioned`, `window whole`, `window by [k, ?]` | an ordered window specification |
//! | `calls lower`, `calls udf f`, `calls sum over order` | a column function; over a window by `group`, `order`, `frame` |
//! | `lower in filter` | the operator that a column function is used in |
//! | `python RowUdf f`, `row calls re.compile`, `captures spark Session`, `builtin F.lower({0})` | Python that Spark runs |
//! | `stream parquet processingTime` | a streaming query that starts, with its trigger |
//! | `deletes out` | a call that deletes what lies under a path |
//! | `only with 3.0 3.5`, `with any version` | a branch for some versions of Spark, by its first line: which of 2.4, 3.0, 3.3, 3.5 and 4.0 it may be for |
//! | `misused BooleanOperator`, `shadowed sum`, `rows IsIn`, `driver data` | what the code does wrong with columns and rows |
//! | `escapes` | a frame that goes where the file does not tell what is done with it |
//! | `count tested empty`, `count logged`, `count used elsewhere 1`, `pandas unique` | what becomes of a result |
//! | `runs collect: unbounded` | a call that runs an action of another module, by the action's kind |
//! | `setting spark.x=1 builder` | a setting with its carrier (`job`: of a dict that no session of the file gets); `spark.x.*` for a key with holes, `=?` for an unknown value |
//!
//! The first line may be `#! fact; fact`: facts of the whole file: `spark`, `no spark`, `local master`, `session NAME`,
//! `functions NAME`, `app NAME`, `plots`, `connect`, `builds session`.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sparkls::conf::{Carrier, Value};
use sparkls::pyspark::plan::{
    Action, ActionKind, JoinCondition, Literal, LoopOver, NodeId, Operator, ResultUse, RowBound, Source,
};
use sparkls::pyspark::{Imports, ModulePath, Modules, PythonFile, StaticPlan};
use sparkls::text::Span;

type Facts = BTreeMap<usize, Vec<String>>;

fn bound(bound: RowBound) -> String {
    match bound {
        RowBound::Exactly(rows) => format!("exactly {rows}"),
        RowBound::Small => "small".into(),
        RowBound::ByGroups => "by-groups".into(),
        RowBound::Unknown => "unknown".into(),
        RowBound::Unbounded => "unbounded".into(),
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Text(text) => text.clone(),
        Literal::Template(parts) => parts.iter().map(|part| part.as_deref().unwrap_or("?")).collect(),
        Literal::Integer(number) => number.to_string(),
        Literal::Bool(truth) => truth.to_string(),
        _ => "?".into(),
    }
}

/// An operator in the words of the fixtures.
fn operator(operator: &Operator) -> String {
    let count = |count: &Option<i64>| count.map_or("?".into(), |count| count.to_string());
    match operator {
        Operator::Source(Source::Read { format, location, open, has_schema, streaming, .. }) => {
            let mut text = format!("read {}", format.as_deref().unwrap_or("?"));
            location.iter().for_each(|path| write!(text, " {}", literal(path)).unwrap());
            text.push_str(if *has_schema { " schema" } else { "" });
            text.push_str(if *open { " open" } else { "" });
            text.push_str(if *streaming { " stream" } else { "" });
            text
        }
        Operator::Source(Source::Table(name)) => format!("table {}", literal(name)),
        Operator::Source(Source::Range(_)) => "range".into(),
        Operator::Source(Source::Local(_)) => "local".into(),
        Operator::Source(Source::Sql { .. }) => "sql".into(),
        Operator::Source(Source::Given) => "given".into(),
        Operator::Filter { key_equality } => if *key_equality { "filter key" } else { "filter" }.into(),
        Operator::Project { only_aggregates: true, .. } => "project aggregates".into(),
        Operator::Project { explodes: true, .. } => "project explodes".into(),
        Operator::Project { .. } => "project".into(),
        Operator::WithColumns => "columns".into(),
        Operator::Join(join) => {
            let condition = match &join.condition {
                JoinCondition::Using(names) => format!("using [{}]", names.join(", ")),
                JoinCondition::Equality => "on equality".into(),
                JoinCondition::NoEquality => "without equality".into(),
                JoinCondition::Missing => "without condition".into(),
                JoinCondition::Cross => "on purpose".into(),
                JoinCondition::Unknown => "on ?".into(),
            };
            format!("join {} {condition}", join.kind.as_deref().unwrap_or("?"))
        }
        Operator::Aggregate { keys, grouped, pivot } => {
            let keys: Vec<&str> = keys.iter().map(|key| key.as_deref().unwrap_or("?")).collect();
            let pivot = match pivot {
                None => "",
                Some(true) => " pivot",
                Some(false) => " open pivot",
            };
            if *grouped { format!("aggregate by [{}]{pivot}", keys.join(", ")) } else { "aggregate".into() }
        }
        Operator::Distinct => "distinct".into(),
        Operator::Window => "window function".into(),
        Operator::Repartition { count: number, keyed } => {
            format!("repartition({}){}", count(number), if *keyed { " keyed" } else { "" })
        }
        Operator::Coalesce { count: number } => format!("coalesce({})", count(number)),
        Operator::Sort { global } => if *global { "sort" } else { "sort within partitions" }.into(),
        Operator::Limit(rows) => format!("limit({})", rows.map_or("?".into(), |rows| rows.to_string())),
        Operator::Union { open } => if *open { "union open" } else { "union" }.into(),
        Operator::Sample { seeded } => if *seeded { "sample seeded" } else { "sample" }.into(),
        Operator::Cache => "cache".into(),
        Operator::Checkpoint => "checkpoint".into(),
        Operator::Hint(name) => format!("hint {name}"),
        Operator::Summary => "summary".into(),
        Operator::Udf => "udf".into(),
        Operator::Merge => "merge".into(),
        Operator::LoopCarried(_) => "carried".into(),
        Operator::Other(name) => format!("other {name}"),
        Operator::Rdd => "rdd".into(),
    }
}

fn action_facts(text: &str, plan: &StaticPlan, action: &Action) -> Vec<String> {
    let name = &action.method;
    let rows = action.input.map_or("no input".into(), |input| bound(plan.bound(input)));
    let mut facts = vec![format!("{name}: {rows}")];
    let mut add = |fact: bool, text: &str| facts.extend(fact.then(|| format!("{name} {text}")));
    add(!action.loops.is_empty(), "in loop");
    add(action.loops.last().is_some_and(|id| plan.loop_(*id).runs_once), "once");
    add(action.conditional, "conditional");
    add(action.on_rdd, "on rdd");
    let upstream =
        |holds: &dyn Fn(NodeId) -> bool| action.input.is_some_and(|input| plan.upstream(input).into_iter().any(holds));
    add(upstream(&|id| plan.node(id).cached), "cached");
    add(upstream(&|id| plan.node(id).operator == Operator::Source(Source::Given)), "from given");
    let result = match &action.result {
        ResultUse::Discarded => "discarded".into(),
        ResultUse::Iterated => "iterated".into(),
        ResultUse::Indexed => "indexed".into(),
        ResultUse::Bound(name) => format!("bound {name}"),
        ResultUse::Returned => "returned".into(),
        ResultUse::Used => "used".into(),
    };
    facts.push(format!("{name} result {result}"));
    if let ActionKind::Write(write) = &action.kind {
        let format = write.format.as_deref().unwrap_or("?");
        let mode = write.mode.as_deref().unwrap_or("?");
        facts.push(format!("writes {format} to {} mode {mode}", literal(&write.target)));
        facts.extend(write.calls.iter().map(|site| format!("writer {}", site.method.of(text))));
    }
    facts
}

fn node_facts(plan: &StaticPlan, id: NodeId, method: &str) -> Vec<String> {
    let node = plan.node(id);
    let mut facts = vec![operator(&node.operator)];
    if let Operator::Join(join) = &node.operator {
        for term in &join.terms {
            let sides = term.sides.iter().map(|side| match &side.name {
                _ if side.computed => "computed",
                Some(name) => name,
                None => "?",
            });
            facts.push(format!("key {}", sides.collect::<Vec<_>>().join(" = ")));
        }
        for (side, input) in ["left", "right"].iter().zip(&node.inputs) {
            if plan.node(*input).operator == Operator::Hint("broadcast".into()) {
                facts.push(format!("{side} broadcast"));
            }
        }
    }
    if let Some(innermost) = node.loops.last() {
        let carried = node.inputs.first().is_some_and(|input| {
            plan.upstream(*input).iter().any(|id| plan.node(*id).operator == Operator::LoopCarried(*innermost))
        });
        facts.push(format!("{} {method}", if carried { "carried" } else { "fresh" }));
    }
    facts.extend(node.conditional.then(|| format!("conditional {method}")));
    facts
}

fn loop_fact(plan: &StaticPlan, index: usize) -> String {
    let facts = &plan.loops[index];
    let over = match &facts.over {
        LoopOver::Literal(items) => format!("literal {items}"),
        LoopOver::CollectedRows(node) => format!("rows {}", bound(plan.bound(*node))),
        LoopOver::Endless => "endless".into(),
        LoopOver::Condition => "while".into(),
        LoopOver::Unknown => "unknown".into(),
    };
    let kind = if facts.comprehension { "comprehension" } else { "loop" };
    let once = if facts.runs_once { " once" } else { "" };
    let retries = if facts.retries { " retries" } else { "" };
    format!("{kind} {over}{once}{retries}")
}

/// All facts of a file by line, from 0.
fn facts(text: &str, plan: &StaticPlan) -> Facts {
    let mut facts = Facts::new();
    let line = |span: Span| line_of(text, span.start as usize);
    for action in &plan.actions {
        facts.entry(line(action.site.method)).or_default().extend(action_facts(text, plan, action));
    }
    for (index, node) in plan.nodes.iter().enumerate() {
        if let Some(site) = &node.site {
            let found = node_facts(plan, NodeId(index as u32), site.method.of(text));
            facts.entry(line(site.method)).or_default().extend(found);
        }
    }
    for binding in &plan.bindings {
        let fact = format!("{}: frame {}", binding.name, bound(plan.bound(binding.node)));
        facts.entry(line(binding.span)).or_default().push(fact);
    }
    for index in 0..plan.loops.len() {
        let facts = facts.entry(line(plan.loops[index].span)).or_default();
        facts.push(loop_fact(plan, index));
        facts.extend((!plan.loops[index].frames.is_empty()).then(|| "each turn a frame".to_owned()));
    }
    for node in &plan.discarded {
        let site = plan.node(*node).site.as_ref().unwrap();
        facts.entry(line(site.method)).or_default().push(format!("discarded {}", site.method.of(text)));
    }
    for (_, site) in &plan.unpersists {
        let released = if site.is_sql() { site.arguments } else { site.receiver };
        facts.entry(line(site.method)).or_default().push(format!("unpersist {}", released.of(text)));
    }
    for window in &plan.windows {
        let keys: Vec<&str> = window.keys.iter().map(|key| key.as_deref().unwrap_or("?")).collect();
        let kind = if window.partitioned { "window partitioned" } else { "window whole" };
        let facts = facts.entry(line(window.site.method)).or_default();
        facts.extend([kind.to_owned(), format!("window by [{}]", keys.join(", "))]);
    }
    details(plan, |span, fact| facts.entry(line(span)).or_default().push(fact));
    for setting in &plan.settings {
        let carrier = match setting.carrier {
            Carrier::Properties => "properties",
            Carrier::Builder => "builder",
            Carrier::SparkConf => "conf",
            Carrier::RuntimeSet => "runtime",
            Carrier::SqlSet => "sql",
            Carrier::Job => "job",
            other => panic!("{other:?}: tests/carriers holds the jobs that code defines"),
        };
        let value = match &setting.value {
            Value::Literal(value) => value.clone(),
            Value::Template => "template".into(),
            Value::Unknown => "?".into(),
        };
        let hole = if setting.key_is_prefix { "*" } else { "" };
        let fact = format!("setting {}{hole}={value} {carrier}", setting.key);
        facts.entry(line(setting.key_span)).or_default().push(fact);
    }
    facts
}

/// What the plan holds beside its operators.
fn details(plan: &StaticPlan, mut fact: impl FnMut(Span, String)) {
    for call in &plan.functions {
        let over = call.over.map_or("", |over| match (over.order, over.framed) {
            (None, _) => " over group",
            (Some(_), true) => " over frame",
            (Some(_), false) => " over order",
        });
        let of = if call.udf.is_some() { "calls udf" } else { "calls" };
        let within: Vec<String> = call.used_in.iter().map(|node| operator(&plan.node(*node).operator)).collect();
        fact(call.method, format!("{of} {}{over}", call.name));
        within.iter().for_each(|within| fact(call.method, format!("{} in {within}", call.name)));
    }
    for python in &plan.python {
        let runs = format!("{:?}", python.runs);
        match &python.function {
            None => fact(python.site, format!("python {runs}")),
            Some(function) => {
                fact(python.site, format!("python {runs} {}", function.name));
                function.calls.iter().for_each(|(name, span)| fact(*span, format!("row calls {name}")));
                function
                    .captures
                    .iter()
                    .for_each(|capture| fact(capture.span, format!("captures {} {:?}", capture.name, capture.what)));
                let builtin = function.builtin.as_ref();
                fact(python.site, builtin.map_or("no builtin".to_owned(), |builtin| format!("builtin {builtin}")));
            }
        }
    }
    for stream in &plan.streams {
        let trigger = stream.trigger.as_ref().map_or("no trigger", |(keyword, ..)| keyword);
        fact(stream.site.method, format!("stream {} {trigger}", stream.write.format.as_deref().unwrap_or("?")));
    }
    for delete in &plan.deletes {
        fact(delete.site.method, format!("deletes {}", literal(&delete.path)));
    }
    for branch in &plan.version_branches {
        let known = ["2.4", "3.0", "3.3", "3.5", "4.0"];
        let held: Vec<&str> =
            known.into_iter().filter(|version| branch.versions.holds(version.parse().unwrap())).collect();
        let text =
            if held.len() == known.len() { "with any version".into() } else { format!("only with {}", held.join(" ")) };
        fact(branch.span, text);
    }
    for misused in &plan.misused {
        fact(misused.span, format!("misused {:?}", misused.misuse));
    }
    for shadowed in &plan.shadowed {
        fact(shadowed.span, format!("shadowed {}", shadowed.name));
    }
    for remote in &plan.remote {
        let kind = format!("{:?}", remote.kind).to_lowercase();
        let kind = kind.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_owned();
        let rows = remote.input.map_or("no input".into(), |input| bound(plan.bound(input)));
        fact(remote.call, format!("runs {kind}: {rows}"));
    }
    for used in &plan.row_uses {
        fact(used.span, format!("rows {:?}", used.kind));
    }
    for data in &plan.driver_data {
        fact(data.span, "driver data".into());
    }
    for site in plan.escapes.iter().filter_map(|id| plan.node(*id).site.as_ref()) {
        fact(site.method, "escapes".into());
    }
    for site in plan.schemas.iter().filter_map(|id| plan.node(*id).site.as_ref()) {
        fact(site.method, "schema read".into());
    }
    for action in &plan.actions {
        let name = &action.method;
        for test in &action.uses.emptiness {
            fact(test.span, format!("{name} {}", if test.if_empty { "tested empty" } else { "tested filled" }));
        }
        action.uses.logged.iter().for_each(|span| fact(*span, format!("{name} logged")));
        action.uses.pandas.iter().for_each(|(method, span)| fact(*span, format!("pandas {method}")));
        if !action.uses.emptiness.is_empty() || !action.uses.logged.is_empty() {
            fact(action.site.method, format!("{name} used elsewhere {}", action.uses.other));
        }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let bytes = &text.as_bytes()[..offset];
    let ends =
        |(at, byte): (usize, &u8)| *byte == b'\n' || *byte == b'\r' && text.as_bytes().get(at + 1) != Some(&b'\n');
    bytes.iter().enumerate().filter(|item| ends(*item)).count()
}

fn file_facts(plan: &StaticPlan) -> Vec<String> {
    let uses = &plan.uses;
    let mut facts = vec![if uses.is_spark { "spark".to_owned() } else { "no spark".to_owned() }];
    let mut add = |fact: bool, text: String| facts.extend(fact.then_some(text));
    add(uses.local_master, "local master".into());
    add(uses.plots, "plots".into());
    add(uses.connect, "connect".into());
    add(uses.builds_session, "builds session".into());
    for (kind, name) in [("session", &uses.session), ("functions", &uses.functions_alias), ("app", &uses.app_name)] {
        add(name.is_some(), format!("{kind} {}", name.as_deref().unwrap_or_default()));
    }
    facts
}

/// Everything that differs from what a fixture says of itself.
fn check(name: &str, text: &str, file: &PythonFile) -> Vec<String> {
    let facts = facts(text, file.plan());
    let mut failures = Vec::new();
    let mut expect = |number: usize, expected: &str, known: &[String]| {
        for fact in expected.split(';').map(str::trim).filter(|fact| !fact.is_empty()) {
            let holds = match (fact, fact.strip_prefix("no ")) {
                ("silent", _) => known.is_empty(),
                ("no spark" | "no builtin", _) => known.iter().any(|known| known == fact),
                (_, Some(absent)) => !known.iter().any(|known| known == absent),
                _ => known.iter().any(|known| known == fact),
            };
            if !holds {
                failures.push(format!("{name}:{}: expected `{fact}`, known: {known:?}", number + 1));
            }
        }
    };
    for (number, line) in text.lines().enumerate() {
        if let Some(expected) = line.strip_prefix("#!") {
            expect(number, expected, &file_facts(file.plan()));
        } else if let Some((_, expected)) = line.split_once("#>") {
            expect(number, expected, facts.get(&number).map_or(&[], |facts| &facts[..]));
        }
    }
    failures
}

fn fixtures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan");
    let mut fixtures: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    fixtures.sort();
    assert!(fixtures.len() > 20, "fixtures are missing");
    fixtures
}

#[test]
fn every_fixture_holds() {
    let parse = |text: &str| PythonFile::parse(&text.into());
    let failures: Vec<String> = fixtures().iter().flat_map(|(name, text)| check(name, text, &parse(text))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The Python files at and below a folder.
fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            python_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            found.push(path);
        }
    }
    found.sort();
}

/// A project of a fixture: by file its name, its text and what it may import.
fn project(folder: &Path) -> Vec<(String, String, Imports)> {
    let mut paths = Vec::new();
    python_files(folder, &mut paths);
    let module = |path: &PathBuf| ModulePath::of(path.strip_prefix(folder).unwrap()).unwrap();
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let modules = Modules::new(paths.iter().map(|path| (module(path), text(path).into())));
    let of = |path: &PathBuf| {
        let name = path.strip_prefix(folder.parent().unwrap()).unwrap().display().to_string();
        (name, text(path), Imports { modules: modules.clone(), path: module(path) })
    };
    paths.iter().map(of).collect()
}

fn projects() -> Vec<Vec<(String, String, Imports)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan");
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders.iter().map(|folder| project(folder)).collect()
}

#[test]
fn every_project_holds() {
    let files: Vec<_> = projects().into_iter().flatten().collect();
    assert!(files.len() > 5, "projects are missing");
    let check = |(name, text, imports): &(String, String, Imports)| {
        check(name, text, &PythonFile::parse_in(&text.as_str().into(), imports))
    };
    let failures: Vec<String> = files.iter().flat_map(check).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_plan_points_into_its_own_file_alone() {
    for (name, text, imports) in projects().into_iter().flatten() {
        let file = PythonFile::parse_in(&text.as_str().into(), &imports);
        let plan = format!("{:?}", file.plan());
        let ends = plan.split("end: ").skip(1).filter_map(|rest| rest.split([' ', ',']).next()?.parse::<usize>().ok());
        let far = ends.filter(|end| *end > text.len()).count();
        assert_eq!(far, 0, "{name}: {far} spans lie behind its end");
    }
}

#[test]
fn an_edit_among_modules_gives_what_a_fresh_parse_gives() {
    for (name, text, imports) in projects().into_iter().flatten() {
        let longer = format!("{text}\nx = 1\n");
        let edited = PythonFile::parse(&text.as_str().into()).edited_in(&[], &longer.as_str().into(), &imports);
        let fresh = PythonFile::parse_in(&longer.as_str().into(), &imports);
        assert_eq!(format!("{:?}", edited.plan()), format!("{:?}", fresh.plan()), "{name}");
    }
}

#[test]
fn every_fixture_expects_something() {
    for (name, text) in fixtures() {
        assert!(text.contains("#>") || text.contains("#!"), "{name} expects nothing");
    }
}

#[test]
fn line_ends_and_byte_order_marks_change_nothing() {
    for (name, text) in fixtures() {
        let plain = facts(&text, PythonFile::parse(&text.as_str().into()).plan());
        let variants = [
            ("crlf", text.replace('\n', "\r\n")),
            ("cr", text.replace('\n', "\r")),
            ("bom", format!("\u{feff}{text}")),
        ];
        for (variant, text) in variants {
            let file = PythonFile::parse(&text.as_str().into());
            assert_eq!(facts(&text, file.plan()), plain, "{name} as {variant}");
            for setting in &file.plan().settings {
                let key = setting.key_span.of(&text);
                assert!(!key.is_empty() && !key.contains(['\n', '\r']), "{name} as {variant}: {key:?}");
            }
        }
    }
}
