//! The Python modules of a project, for the imports that lead to them: an immutable snapshot of texts, parsed when
//! somebody first imports them.

use std::path::{Component, Path};
use std::sync::{Arc, LazyLock, OnceLock};

use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};

use super::api;
use super::file::{Placed, lower_all, may_use_spark};
use super::syntax::Syntax;

/// A larger text is data, and is not followed.
const LARGEST: usize = 512 << 10;
/// What the texts of one project may take together; the rest is not followed.
const LARGEST_SUM: usize = 48 << 20;
/// Modules that are read for what they call in another one.
const MOST_CALLERS: usize = 16;
/// How many imports may lie between them.
const FARTHEST_CALLER: usize = 3;

/// A Python file by its path from the project's root: `src.jobs.common` for `src/jobs/common.py`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ModulePath {
    dotted: Arc<str>,
    is_package: bool,
}

impl ModulePath {
    /// The module at a path from the project's root; `None` if its name is no Python name.
    pub fn of(relative: &Path) -> Option<Self> {
        if relative.extension().is_none_or(|extension| extension != "py") {
            return None;
        }
        let mut parts: Vec<&str> = Vec::new();
        let without = relative.with_extension("");
        for part in without.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str().filter(|name| !name.contains('.'))?),
                Component::CurDir => {}
                _ => return None,
            }
        }
        let is_package = parts.last() == Some(&"__init__");
        if is_package {
            parts.pop();
        }
        Some(Self { dotted: parts.join(".").into(), is_package })
    }

    /// The folder that holds it, dotted; of a package the package itself.
    fn folder(&self) -> &str {
        if self.is_package { &self.dotted } else { parent(&self.dotted).unwrap_or_default() }
    }

    pub(super) fn dotted(&self) -> &Arc<str> {
        &self.dotted
    }
}

/// A module's text, and its statements once somebody imports it.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) path: ModulePath,
    pub(super) text: Arc<str>,
    tops: OnceLock<Vec<Placed>>,
    /// What its lines import, as it is written.
    imported: OnceLock<Vec<String>>,
}

impl Module {
    fn imported(&self) -> &[String] {
        self.imported.get_or_init(|| imported_names(&self.text))
    }

    /// A test by its name or folder.
    fn is_test(&self) -> bool {
        let mut parts = self.path.dotted.rsplit('.');
        let name = parts.next().unwrap_or_default();
        name.starts_with("test_")
            || name.ends_with("_test")
            || matches!(name, "conftest" | "tests" | "test")
            || parts.any(|part| matches!(part, "tests" | "test"))
    }

    pub(super) fn tops(&self) -> &[Placed] {
        self.tops.get_or_init(|| lower_all(&Syntax::parse(&self.text), &Default::default()))
    }
}

/// The modules of a project. Cheap to clone; a clone is a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    known: Arc<Known>,
}

#[derive(Debug, Clone, Default)]
struct Known {
    files: FxHashMap<Arc<str>, Arc<Module>>,
    /// Folders that hold modules at any depth.
    folders: FxHashSet<Arc<str>>,
    /// Modules by the last part of their path.
    by_name: FxHashMap<Arc<str>, Vec<Arc<str>>>,
    /// Bytes of all texts.
    size: usize,
    /// Whether one of them imports Spark, once somebody asked.
    use_spark: OnceLock<bool>,
    /// By module those that import it, once somebody asked.
    importers: OnceLock<FxHashMap<Arc<str>, Vec<Arc<str>>>>,
}

impl PartialEq for Modules {
    fn eq(&self, other: &Self) -> bool {
        let same = |(path, module): (&Arc<str>, &Arc<Module>)| {
            other.known.files.get(path).is_some_and(|other| Arc::ptr_eq(module, other) || module.text == other.text)
        };
        self.is(other) || self.known.files.len() == other.known.files.len() && self.known.files.iter().all(same)
    }
}

impl Modules {
    /// The modules with these texts. Texts that are too large are left out.
    pub fn new(files: impl IntoIterator<Item = (ModulePath, Arc<str>)>) -> Self {
        let mut known = Known::default();
        files.into_iter().for_each(|(path, text)| known.add(path, text));
        Self { known: Arc::new(known) }
    }

    /// The modules with another text for one of them.
    pub fn with(&self, path: &ModulePath, text: &Arc<str>) -> Self {
        if self.known.files.get(&path.dotted).is_some_and(|module| module.text == *text) {
            return self.clone();
        }
        let mut known = (*self.known).clone();
        known.add(path.clone(), Arc::clone(text));
        Self { known: Arc::new(known) }
    }

    /// The modules without those at or below a path from the root; `None` if there are none.
    pub fn without(&self, relative: &Path) -> Option<Self> {
        if let Some(module) = ModulePath::of(relative) {
            return self.only(|path| *path != *module.dotted);
        }
        let gone = relative.iter().map(|part| part.to_str()).collect::<Option<Vec<_>>>()?.join(".");
        let is_below =
            |path: &str| path.strip_prefix(&*gone).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.only(|path| !is_below(path))
    }

    fn only(&self, is_kept: impl Fn(&str) -> bool) -> Option<Self> {
        let kept: Vec<&Arc<Module>> = self.known.files.values().filter(|module| is_kept(&module.path.dotted)).collect();
        if kept.len() == self.known.files.len() {
            return None;
        }
        let mut known = Known::default();
        kept.into_iter().for_each(|module| known.keep(Arc::clone(module)));
        Some(Self { known: Arc::new(known) })
    }

    /// Whether this is the same snapshot.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.known, &other.known)
    }

    /// Whether one of the modules names `pyspark`.
    pub fn use_spark(&self) -> bool {
        let names_it = |module: &Arc<Module>| memchr::memmem::find(module.text.as_bytes(), b"pyspark").is_some();
        *self.known.use_spark.get_or_init(|| self.known.files.values().any(names_it))
    }

    /// The modules that import a module, tests left out.
    fn importers(&self, module: &str) -> &[Arc<str>] {
        let importers = self.known.importers.get_or_init(|| self.all_importers());
        importers.get(module).map_or(&[], |importers| &importers[..])
    }

    fn all_importers(&self) -> FxHashMap<Arc<str>, Vec<Arc<str>>> {
        let mut importers: FxHashMap<Arc<str>, Vec<Arc<str>>> = FxHashMap::default();
        for (path, module) in self.known.files.iter().filter(|(_, module)| !module.is_test()) {
            let found = module.imported().iter().filter_map(|import| self.resolve(&module.path, import));
            let found = found.filter_map(|found| Some(&self.module(&found)?.path.dotted));
            for imported in found.filter(|imported| *imported != path).collect::<FxHashSet<_>>() {
                importers.entry(Arc::clone(imported)).or_default().push(Arc::clone(path));
            }
        }
        importers.values_mut().for_each(|importers| importers.sort());
        importers
    }

    /// The modules that import a module, and those that import them, nearest first; and whether these are all.
    pub(super) fn callers(&self, of: &ModulePath) -> (Vec<Arc<str>>, bool) {
        let mut found: Vec<Arc<str>> = Vec::new();
        if of.dotted.is_empty() {
            return (found, true);
        }
        let mut nearest: Vec<Arc<str>> = vec![Arc::clone(&of.dotted)];
        for _ in 0..FARTHEST_CALLER {
            let mut next = Vec::new();
            for caller in nearest.iter().flat_map(|module| self.importers(module)) {
                if *caller == of.dotted || found.contains(caller) {
                    continue;
                }
                next.push(Arc::clone(caller));
                found.push(Arc::clone(caller));
            }
            nearest = next;
        }
        // The others come to nothing of Spark on their own; those that call them run them.
        found.retain(|caller| self.module(caller).is_some_and(|module| may_use_spark(&module.text)));
        let is_all = found.len() <= MOST_CALLERS;
        found.truncate(MOST_CALLERS);
        (found, is_all)
    }

    /// The module or package with this path from the root.
    pub(super) fn module(&self, dotted: &str) -> Option<&Arc<Module>> {
        self.known.files.get(dotted)
    }

    /// Whether a module or a folder of modules has this path from the root.
    pub(super) fn knows(&self, dotted: &str) -> bool {
        self.known.files.contains_key(dotted) || self.known.folders.contains(dotted)
    }

    /// The path from the root of what `from` means by `import`, which may start with dots.
    pub(super) fn resolve(&self, from: &ModulePath, import: &str) -> Option<String> {
        let rest = import.trim_start_matches('.');
        if rest.len() < import.len() {
            return self.relative(from, import.len() - rest.len(), rest);
        }
        if api::is_spark_package(import) || api::is_foreign_package(import) || is_standard(import) {
            return None;
        }
        self.beside(from, import).or_else(|| self.ending_with(import))
    }

    fn relative(&self, from: &ModulePath, dots: usize, rest: &str) -> Option<String> {
        let mut folder = from.folder();
        for _ in 1..dots {
            folder = parent(folder)?;
        }
        let path = join(folder, rest);
        self.knows(&path).then_some(path)
    }

    /// In the importing file's folder, where Python looks for a script's modules, or in a folder around it that is no
    /// package (the root, `src`).
    fn beside(&self, from: &ModulePath, import: &str) -> Option<String> {
        let own = from.folder();
        let mut around = Some(own);
        while let Some(folder) = around {
            let path = join(folder, import);
            let is_package = self.module(folder).is_some_and(|module| module.path.is_package);
            if (folder == own || !is_package) && self.knows(&path) {
                return Some(path);
            }
            around = if folder.is_empty() { None } else { Some(parent(folder).unwrap_or_default()) };
        }
        None
    }

    /// The only module of the project whose path ends so, where its first part lies in no package.
    fn ending_with(&self, import: &str) -> Option<String> {
        let last = import.rsplit('.').next().unwrap_or(import);
        let mut found = None;
        for path in self.known.by_name.get(last)? {
            let folder = match path.strip_suffix(import) {
                Some("") => "",
                Some(folder) if folder.ends_with('.') => &folder[..folder.len() - 1],
                _ => continue,
            };
            if self.module(folder).is_some_and(|module| module.path.is_package) {
                continue;
            }
            if found.replace(path).is_some() {
                return None;
            }
        }
        found.map(|path| path.to_string())
    }
}

impl Known {
    fn add(&mut self, path: ModulePath, text: Arc<str>) {
        self.keep(Arc::new(Module { path, text, tops: OnceLock::new(), imported: OnceLock::new() }));
    }

    fn keep(&mut self, module: Arc<Module>) {
        let Module { path, text, .. } = &*module;
        let before = self.files.get(&path.dotted).map_or(0, |module| module.text.len());
        let size = self.size - before + text.len();
        if text.len() > LARGEST || size > LARGEST_SUM {
            return;
        }
        self.size = size;
        self.use_spark = OnceLock::new();
        self.importers = OnceLock::new();
        let mut around = parent(&path.dotted);
        while let Some(folder) = around.filter(|folder| !folder.is_empty() && !self.folders.contains(*folder)) {
            self.folders.insert(folder.into());
            around = parent(folder);
        }
        let name: Arc<str> = path.dotted.rsplit('.').next().unwrap_or_default().into();
        let named = self.by_name.entry(name).or_default();
        if !named.contains(&path.dotted) {
            named.push(Arc::clone(&path.dotted));
        }
        let dotted = Arc::clone(&path.dotted);
        self.files.insert(dotted, module);
    }
}

/// What a file may import of its project.
#[derive(Debug, Clone, Default)]
pub struct Imports {
    /// The project's modules.
    pub modules: Modules,
    /// The file itself.
    pub path: ModulePath,
}

impl Imports {
    /// Whether a text can be about Spark: by its own words, or because it imports a module of the project that is.
    pub fn may_use_spark(&self, text: &str) -> bool {
        may_use_spark(text)
            || imported(text).any(|import| self.is_about_spark(import))
            || self.importers().any(|module| may_use_spark(&module.text))
    }

    /// Whether a text imports a module of the project.
    pub fn are_used_by(&self, text: &str) -> bool {
        imported(text).any(|import| self.modules.resolve(&self.path, import).is_some())
    }

    /// Whether other modules of the project may call what is in the file.
    pub fn have_callers(&self) -> bool {
        self.importers().next().is_some()
    }

    /// The file itself as a module that is read with others, if this is its text: they import it, or it imports them and is
    /// read for what it calls there.
    pub(super) fn shared(&self, text: &str) -> Option<&Module> {
        let own = self.modules.module(&self.path.dotted)?;
        (*own.text == *text && (self.have_callers() || self.are_used_by(text))).then_some(own)
    }

    fn importers(&self) -> impl Iterator<Item = &Arc<Module>> {
        self.modules.importers(&self.path.dotted).iter().filter_map(|path| self.modules.module(path))
    }

    fn is_about_spark(&self, import: &str) -> bool {
        let path = self.modules.resolve(&self.path, import);
        let module = path.and_then(|path| self.modules.module(&path));
        module.is_some_and(|module| may_use_spark(&module.text))
    }
}

/// Modules that a text's import statements name, as far as a scan tells.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    import_statements(text).flat_map(|(from, names)| from.into_iter().chain(names.filter(move |_| from.is_none())))
}

/// Modules that a text may import: those that it names, and names that it takes out of them.
fn imported_names(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (from, names) in import_statements(text) {
        let Some(module) = from else {
            found.extend(names.map(str::to_owned));
            continue;
        };
        let dot = if module.ends_with('.') { "" } else { "." };
        found.extend(names.map(|name| format!("{module}{dot}{name}")));
        found.push(module.to_owned());
    }
    found
}

/// The module behind `from`, if it is there, and the names behind `import`, without those that `as` gives them.
fn import_statements(text: &str) -> impl Iterator<Item = (Option<&str>, impl Iterator<Item = &str>)> {
    static IMPORT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"import"));
    IMPORT.find_iter(text.as_bytes()).filter_map(|at| {
        let (before, behind) = (&text[..at], &text[at + IMPORT.needle().len()..]);
        let statement = before.rfind(['\n', ';']).map_or(before, |end| {
            match before[..end].trim_end_matches('\r').strip_suffix('\\') {
                // `from module \`, and `import` on the next line.
                Some(first) => &before[first.rfind('\n').map_or(0, |end| end + 1)..],
                None => &before[end + 1..],
            }
        });
        let from = match statement.trim_start() {
            "" => None,
            statement => Some(statement.strip_prefix("from ")?.trim_matches([' ', '\t', '\\', '\r', '\n'])),
        };
        let names = behind.strip_prefix([' ', '\t', '(', '\\'])?.trim_start();
        let names = match names.strip_prefix('(').or_else(|| behind.strip_prefix('(')) {
            Some(names) => names.split(')').next(),
            None => names.split(['\n', ';']).next(),
        };
        let lines = names.unwrap_or_default().lines().flat_map(|line| line.split('#').next());
        Some((from, lines.flat_map(|line| line.split(',')).filter_map(|name| name.split_whitespace().next())))
    })
}

fn parent(dotted: &str) -> Option<&str> {
    match dotted.rsplit_once('.') {
        Some((folder, _)) => Some(folder),
        None => (!dotted.is_empty()).then_some(""),
    }
}

fn join(folder: &str, rest: &str) -> String {
    match (folder, rest) {
        ("", rest) => rest.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, rest) => format!("{folder}.{rest}"),
    }
}

/// Modules of Python's own library that projects have files of the same name beside.
fn is_standard(import: &str) -> bool {
    let root = import.split('.').next().unwrap_or_default();
    matches!(
        root,
        "__future__"
            | "abc"
            | "argparse"
            | "array"
            | "ast"
            | "asyncio"
            | "base64"
            | "bisect"
            | "calendar"
            | "code"
            | "collections"
            | "concurrent"
            | "configparser"
            | "contextlib"
            | "copy"
            | "csv"
            | "dataclasses"
            | "datetime"
            | "decimal"
            | "enum"
            | "email"
            | "functools"
            | "glob"
            | "hashlib"
            | "html"
            | "http"
            | "inspect"
            | "io"
            | "itertools"
            | "logging"
            | "math"
            | "multiprocessing"
            | "numbers"
            | "operator"
            | "pathlib"
            | "pickle"
            | "platform"
            | "profile"
            | "queue"
            | "random"
            | "secrets"
            | "select"
            | "shutil"
            | "signal"
            | "site"
            | "socket"
            | "sqlite3"
            | "statistics"
            | "string"
            | "struct"
            | "subprocess"
            | "tempfile"
            | "textwrap"
            | "threading"
            | "time"
            | "token"
            | "traceback"
            | "types"
            | "typing"
            | "typing_extensions"
            | "unittest"
            | "urllib"
            | "uuid"
            | "warnings"
            | "weakref"
            | "xml"
            | "zipfile"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(paths: &[&str]) -> Modules {
        Modules::new(paths.iter().map(|path| (ModulePath::of(Path::new(path)).unwrap(), Arc::from("x = 1\n"))))
    }

    #[test]
    fn import_statements_are_found_without_parsing() {
        let found = |text: &str| {
            let statements = import_statements(text);
            let shown = statements
                .map(|(from, names)| format!("{}|{}", from.unwrap_or("-"), names.collect::<Vec<_>>().join(" ")));
            shown.collect::<Vec<_>>().join("; ")
        };
        assert_eq!(found("import a, b.c as d  # e\nimport f; import g\r\n"), "-|a b.c; -|f; -|g");
        assert_eq!(found("    from . import a as b, c\r\nfrom x import *"), ".|a c; x|*");
        assert_eq!(found("from x import (  # why\n    a,\n    b as c,\n)\nfrom y import(d)"), "x|a b; y|d");
        assert_eq!(found("from x \\\r\n    import a\nfrom y \\\n  import b"), "x|a; y|b");
        assert_eq!(
            found("important = 1\n# import a\nfrom x.import_it import y\nreimport z\nfrom q import"),
            "x.import_it|y"
        );
    }

    #[test]
    fn imports_are_found_as_python_finds_them() {
        let modules = modules(&[
            "src/jobs/__init__.py",
            "src/jobs/common.py",
            "src/jobs/logging.py",
            "src/jobs/io/__init__.py",
            "scripts/daily.py",
            "scripts/helpers.py",
            "libs/shared/src/shared/__init__.py",
            "libs/shared/src/shared/tables.py",
            "a/util.py",
            "b/util.py",
        ]);
        let resolve = |from: &str, import: &str| modules.resolve(&ModulePath::of(Path::new(from)).unwrap(), import);
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(resolve("src/jobs/daily.py", "jobs.common"), some("src.jobs.common"), "src on the path");
        assert_eq!(resolve("src/jobs/daily.py", ".common"), some("src.jobs.common"));
        assert_eq!(resolve("src/jobs/io/__init__.py", "..common"), some("src.jobs.common"));
        assert_eq!(resolve("src/jobs/io/__init__.py", "."), some("src.jobs.io"));
        assert_eq!(resolve("scripts/daily.py", "helpers"), some("scripts.helpers"), "beside the script");
        assert_eq!(resolve("scripts/daily.py", "src.jobs.common"), some("src.jobs.common"), "from the root");
        assert_eq!(resolve("scripts/daily.py", "jobs.common"), some("src.jobs.common"), "the only one");
        assert_eq!(resolve("scripts/daily.py", "shared.tables"), some("libs.shared.src.shared.tables"));
        assert_eq!(resolve("scripts/daily.py", "util"), None, "either could be meant");
        assert_eq!(resolve("src/jobs/daily.py", "logging"), None, "Python's own");
        assert_eq!(resolve("scripts/daily.py", "common"), None, "it lies in a package");
        assert_eq!(resolve("scripts/daily.py", "pyspark.sql"), None);
    }

    #[test]
    fn a_changed_text_makes_another_snapshot() {
        let before = modules(&["a.py", "b.py"]);
        let path = ModulePath::of(Path::new("a.py")).unwrap();
        assert!(before.with(&path, &Arc::from("x = 1\n")).is(&before));
        let after = before.with(&path, &Arc::from("x = 2\n"));
        assert!(after != before && after == after.clone());
    }

    #[test]
    fn files_and_folders_go() {
        let before = modules(&["a.py", "b/__init__.py", "b/c.py", "bc.py"]);
        let left = |path: &str| {
            let after = before.without(Path::new(path))?;
            let names = ["a", "b", "b.c", "bc"];
            Some(names.into_iter().filter(|name| after.module(name).is_some()).collect::<Vec<_>>())
        };
        assert_eq!(left("a.py"), Some(vec!["b", "b.c", "bc"]));
        assert_eq!(left("b"), Some(vec!["a", "bc"]));
        assert_eq!(left("b/c.py"), Some(vec!["a", "b", "bc"]));
        assert_eq!(left("d.py"), None);
    }

    #[test]
    fn a_file_without_the_word_may_import_it() {
        let path = |path: &str| ModulePath::of(Path::new(path)).unwrap();
        let spark: Arc<str> = "def load(spark):\n    return spark.table('t')\n".into();
        let modules = Modules::new([(path("common.py"), spark), (path("other.py"), Arc::from("x = 1\n"))]);
        let imports = Imports { modules, path: path("daily.py") };
        assert!(imports.may_use_spark("from common import load\nload().collect()\n"));
        assert!(!imports.may_use_spark("from other import x\nimport json\n"));
    }
}
