//! Modules of the project: an import runs the module's own statements, and its functions run where they are called. The
//! plan tells of the interpreted file alone: [`Interpreter::keep_own`] takes out what other files did.

use smallvec::SmallVec;

use super::{Frame, Interpreter};
use crate::pyspark::ir::Top;
use crate::pyspark::plan::{CallSite, Operator, RemoteAction, Runs, ScopeId, Source, SparkUse};
use crate::pyspark::value::{Code, EnvId, Value};
use crate::pyspark::{Imports, ModulePath};
use crate::text::Span;

/// Modules that one file may bring in, over all their imports.
const MOST_FILES: usize = 64;

/// How deep imports are followed into each other.
const DEPTH: u32 = 12;

/// Steps for the code of other modules. It is a budget of its own, so that a file never loses facts to what it imports.
pub(super) const BUDGET: usize = 12_000;

/// A file that is read: the interpreted one, then the modules that it imports.
#[derive(Debug)]
pub(super) struct File<'a> {
    origin: u32,
    pub(super) text: &'a str,
    pub(super) env: EnvId,
    path: ModulePath,
    /// How it uses Spark, while another file's code runs.
    uses: SparkUse,
    has_snowpark: bool,
    /// It was read for what it calls in the interpreted file.
    is_outside: bool,
}

/// The files and where the reading stands in them.
#[derive(Debug)]
pub(super) struct Files<'a> {
    imports: &'a Imports,
    all: Vec<File<'a>>,
    /// The file whose code runs.
    at: u32,
    loading: u32,
    steps: usize,
    /// The call of the interpreted file that led into other code.
    pub(super) call: Span,
    /// Actions of other files, by that call.
    remote: Vec<RemoteAction>,
}

impl<'a> Files<'a> {
    pub(super) fn new(text: &'a str, env: EnvId, imports: &'a Imports) -> Self {
        let home = File {
            origin: 0,
            text,
            env,
            path: imports.path.clone(),
            uses: SparkUse::default(),
            has_snowpark: false,
            is_outside: false,
        };
        Self { imports, all: vec![home], at: 0, loading: 0, steps: 0, call: Span::default(), remote: Vec::new() }
    }

    /// The file that holds a place.
    fn holding(&self, place: u32) -> Option<&File<'a>> {
        let after = self.all.partition_point(|file| file.origin <= place);
        self.all.get(after.saturating_sub(1))
    }

    /// The characters of a span.
    pub(super) fn text(&self, span: Span) -> &'a str {
        match self.holding(span.start) {
            Some(file) => {
                Span { start: span.start - file.origin, end: span.end.max(span.start) - file.origin }.of(file.text)
            }
            None => "",
        }
    }

    /// Whether a place lies in the interpreted file.
    pub(super) fn is_own(&self, span: Span) -> bool {
        self.all.first().is_some_and(|home| span.start as usize <= home.text.len())
    }

    /// Whether the interpreted file's own code runs.
    pub(super) fn at_home(&self) -> bool {
        self.at == 0
    }

    /// The namespace of the module that code belongs to.
    pub(super) fn env(&self, code: Code<'a>) -> EnvId {
        self.all.get(code.file as usize).map_or(super::MODULE, |file| file.env)
    }

    /// Whether another module's code may still be read on.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= BUDGET
    }

    /// Counts the steps anew from some; says how many they were.
    pub(super) fn restart(&mut self, steps: usize) -> usize {
        std::mem::replace(&mut self.steps, steps)
    }

    /// How many files were read.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether a module was read for what it calls.
    pub(super) fn was_read_outside(&self, path: &str) -> bool {
        self.all.iter().any(|file| file.is_outside && **file.path.dotted() == *path)
    }

    /// The modules that import the interpreted file, with those that import them, and whether these are all.
    pub(super) fn callers(&self) -> (Vec<std::sync::Arc<str>>, bool) {
        match self.all.first() {
            Some(home) => self.imports.modules.callers(&home.path),
            None => (Vec::new(), true),
        }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.steps > BUDGET
    }
}

impl<'a> Interpreter<'a> {
    /// Whether code is read in full, for findings or for what it calls: it runs as a script does.
    pub(super) fn is_read_in_full(&self, code: Code<'a>) -> bool {
        let path = || self.files.all.get(code.file as usize).map(|file| file.path.dotted());
        code.is_home() || self.outside.is_read() && path().is_some_and(|path| self.outside.holds(path))
    }

    /// Goes on in another file's code; says which one it was before. Each file knows for itself how it uses Spark.
    pub(super) fn go_to(&mut self, file: u32) -> u32 {
        let before = self.files.at;
        if before != file {
            if let Some(left) = self.files.all.get_mut(before as usize) {
                left.uses = std::mem::take(&mut self.plan.uses);
                left.has_snowpark = self.has_snowpark;
            }
            if let Some(entered) = self.files.all.get_mut(file as usize) {
                self.plan.uses = std::mem::take(&mut entered.uses);
                self.has_snowpark = entered.has_snowpark;
            }
            self.files.at = file;
        }
        before
    }

    /// The statement that runs, for what is noted of the interpreted file.
    pub(super) fn at(&mut self, code: Code<'a>, statement: Span) {
        if code.is_home() {
            self.frame.statement = code.span(statement);
        }
    }

    /// The module of the project that an import in the running file means, by its path from the root.
    pub(super) fn project_module(&self, import: &str) -> Option<String> {
        let from = self.files.all.get(self.files.at as usize)?;
        self.files.imports.modules.resolve(&from.path, import)
    }

    /// A name of a module of the project, or a module below it.
    pub(super) fn project_member(&mut self, module: &str, name: &str) -> Value<'a> {
        if let Some(env) = self.load_module(module)
            && let Some(value) = self.own(env, name)
        {
            return self.imported(value);
        }
        let below = format!("{module}.{name}");
        if self.files.imports.modules.knows(&below) { Value::Project(below.into()) } else { Value::Unknown }
    }

    /// What an imported name stands for; its module runs when the name is first used.
    pub(super) fn imported(&mut self, value: Value<'a>) -> Value<'a> {
        let Value::Imported(module, name) = &value else { return value };
        if self.files.loading >= DEPTH {
            return Value::Unknown;
        }
        self.files.loading += 1;
        let value = self.project_member(module, name);
        self.files.loading -= 1;
        value
    }

    /// Looks up what a file's code imports by these names.
    pub(super) fn use_imports(&mut self, code: Code<'a>, names: impl Iterator<Item = &'a str>) {
        let env = self.files.env(code);
        for name in names {
            if let Some(value @ Value::Imported(..)) = self.own(env, name) {
                let value = self.imported(value);
                self.set(env, name, Some(value));
            }
        }
    }

    /// `from module import *`.
    pub(super) fn import_all_of(&mut self, module: &str) {
        let Some(env) = self.load_module(module) else { return };
        let listed = match self.own(env, "__all__") {
            Some(Value::List(items) | Value::Tuple(items)) => Some(items),
            _ => None,
        };
        let is_public = |name: &str| match &listed {
            Some(items) => items.iter().any(|item| item.value.as_text() == Some(name)),
            None => !name.starts_with('_'),
        };
        let names = &self.envs[env.0 as usize].names;
        let mut public: Vec<(&'a str, Option<Value<'a>>)> =
            names.iter().filter(|(name, _)| is_public(name)).map(|(name, value)| (*name, value.clone())).collect();
        public.sort_by_key(|(name, _)| *name);
        let target = self.frame.env;
        for (name, value) in public {
            self.set(target, name, value);
        }
    }

    /// Runs a module's statements when it is first needed; `None` if it can't be read, or its import leads in a circle
    /// before it has any name.
    pub(super) fn load_module(&mut self, path: &str) -> Option<EnvId> {
        let known = self.files.all.iter().find(|file| &**file.path.dotted() == path && !path.is_empty());
        if let Some(known) = known {
            return Some(known.env);
        }
        let imports: &'a Imports = self.files.imports;
        let module = imports.modules.module(path)?;
        if self.files.all.len() >= MOST_FILES || self.files.loading >= DEPTH || self.files.is_spent() {
            return None;
        }
        let file = self.files.all.len() as u32;
        let last = self.files.all.last()?;
        // One byte between the files: a span that ends a text starts none.
        let origin = last.origin.checked_add(last.text.len() as u32 + 1)?;
        origin.checked_add(module.text.len() as u32 + 1)?;
        let env = self.new_env(None);
        self.files.all.push(File {
            origin,
            text: &module.text,
            env,
            path: module.path.clone(),
            uses: SparkUse::default(),
            has_snowpark: false,
            is_outside: self.outside.is_read(),
        });
        let code = |top: &'a Top, start: u32| Code { top, text: &module.text, file, origin, base: origin + start };
        let tops: Vec<Code<'a>> = module.tops().iter().map(|placed| code(&placed.top, placed.start)).collect();
        self.run_module(file, env, &tops);
        Some(env)
    }

    fn run_module(&mut self, file: u32, env: EnvId, tops: &[Code<'a>]) {
        // It runs once for all: no branch around the import takes its names back.
        let journal = std::mem::take(&mut self.journal);
        let logging = std::mem::take(&mut self.logging);
        let before = self.go_to(file);
        let frame = Frame {
            env,
            scope: ScopeId(0),
            loops: SmallVec::new(),
            conditional: false,
            returns: Vec::new(),
            yields: Vec::new(),
            statement: self.frame.statement,
        };
        let frame = std::mem::replace(&mut self.frame, frame);
        self.files.loading += 1;
        self.depth += 8;
        self.scan_imports(tops);
        for code in tops {
            self.block(*code, &code.top.body);
        }
        self.depth -= 8;
        self.files.loading -= 1;
        self.frame = frame;
        self.go_to(before);
        self.logging = logging;
        self.journal = journal;
    }

    /// Notes an action of another file for the call that led there.
    pub(super) fn remote_action(&mut self, action: &crate::pyspark::plan::Action) {
        // Of what another module does on its own, nothing is told here.
        if self.outside.is_read() && self.files.call == Span::default() {
            return;
        }
        self.files.remote.push(RemoteAction {
            kind: action.kind.clone(),
            input: action.input,
            call: self.files.call,
            scope: self.frame.scope,
        });
    }

    /// Takes out of the plan what has its place in another file.
    pub(super) fn keep_own(&mut self) {
        self.go_to(0);
        let local = self.files.all.iter().skip(1).any(|file| file.uses.local_master && !file.is_outside);
        let remote = std::mem::take(&mut self.files.remote);
        let (plan, files) = (&mut self.plan, &self.files);
        if files.all.len() == 1 {
            return;
        }
        let own = |span: Span| files.is_own(span);
        let own_site = |site: &CallSite| own(site.call);
        plan.uses.local_master |= local;
        plan.remote = remote;
        for node in &mut plan.nodes {
            node.site = node.site.take().filter(own_site);
            if let Operator::Source(Source::Read { chain, .. }) = &mut node.operator
                && !own(*chain)
            {
                *chain = Span::default();
            }
        }
        plan.actions.retain(|action| own_site(&action.site));
        // A value that another module hands over is not told here.
        for setting in plan.settings.iter_mut().filter(|setting| !own(setting.value_span)) {
            setting.value = crate::conf::Value::Unknown;
            setting.value_span = Span { start: setting.key_span.end, end: setting.key_span.end };
        }
        plan.settings.retain(|setting| own(setting.span) && own(setting.key_span) && own(setting.value_span));
        plan.unpersists.retain(|(_, site)| own_site(site));
        plan.bindings.retain(|binding| own(binding.span));
        plan.session_span = plan.session_span.filter(|span| own(*span));
        plan.sessions.retain(|session| own(session.call));
        plan.sql.retain(|text| own(*text));
        plan.deletes.retain(|delete| own_site(&delete.site));
        plan.version_branches.retain(|branch| own(branch.span));
        plan.misused.retain(|misused| own(misused.span));
        plan.shadowed.retain(|shadowed| own(shadowed.span));
        plan.row_uses.retain(|used| own(used.span));
        plan.driver_data.retain(|data| own(data.span));
        plan.streams.retain(|stream| own_site(&stream.site));
        let windows = kept(&mut plan.windows, |window| own_site(&window.site));
        // A function of the file is told of though another module starts the query.
        for function in plan.python.iter_mut().filter(|function| function.runs == Runs::ForeachBatch) {
            if let Some(facts) = function.function.as_ref().filter(|facts| own(facts.span) && !own(function.site)) {
                function.site = Span { start: facts.span.start, end: facts.span.start };
            }
        }
        let python = kept(&mut plan.python, |function| own(function.site));
        for function in &mut plan.python {
            function.function = function.function.take().filter(|facts| own(facts.span));
        }
        for stream in &mut plan.streams {
            stream.batch = stream.batch.and_then(|index| python.get(index).copied().flatten());
            stream.trigger = stream.trigger.take().filter(|(_, _, span)| own(*span));
        }
        // What can't be told in full is not told.
        plan.functions.retain_mut(|function| {
            let udf = function.udf.map(|index| python.get(index).copied().flatten());
            let order = function.over.and_then(|over| over.order).map(|index| windows.get(index).copied().flatten());
            function.udf = udf.flatten();
            if let Some(over) = &mut function.over {
                over.order = order.flatten();
            }
            own(function.call) && udf != Some(None) && order != Some(None)
        });
    }
}

/// Keeps some of a list; says where each of it went.
fn kept<T>(list: &mut Vec<T>, keep: impl Fn(&T) -> bool) -> Vec<Option<usize>> {
    let mut next = 0;
    let places = list
        .iter()
        .map(|item| {
            let place = keep(item).then_some(next);
            next += usize::from(place.is_some());
            place
        })
        .collect();
    list.retain(keep);
    places
}
