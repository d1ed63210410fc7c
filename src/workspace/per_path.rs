//! `[rules.per-path."tests/**"]`: levels and options of rules for some of a project's files.

use std::borrow::Cow;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::rules::{Environment, Level, RuleSettings};

/// What the settings say of the files of a glob, as written.
pub(super) type PathRules = (String, RuleSettings);

/// The same, ready to be asked; what stands later wins.
#[derive(Debug, Clone, Default)]
pub(super) struct PerPath(Vec<(GlobSet, RuleSettings)>);

impl PerPath {
    pub(super) fn new(written: &[PathRules]) -> Self {
        Self(written.iter().map(|(glob, rules)| (globs(glob), rules.clone())).collect())
    }

    /// The environment of a file at a path below the project's root.
    pub(super) fn environment<'a>(&self, environment: &'a Environment, relative: &Path) -> Cow<'a, Environment> {
        let mut environment = Cow::Borrowed(environment);
        for (_, rules) in self.0.iter().filter(|(globs, _)| is_match(globs, relative)) {
            let own = &mut environment.to_mut().rules;
            own.levels.extend(rules.levels.iter().map(|(rule, level)| (rule.clone(), *level)));
            own.options.extend(rules.options.iter().map(|(option, value)| (option.clone(), *value)));
        }
        environment
    }

    /// Whatever is said of a rule for some files, it is off.
    pub(super) fn switch_off(&mut self, rule: &str) {
        for level in self.0.iter_mut().filter_map(|(_, rules)| rules.levels.get_mut(rule)) {
            *level = Level::Off;
        }
    }
}

/// A glob of files, of their names, or of the folders that hold them.
pub(super) fn globs(glob: &str) -> GlobSet {
    let folder = format!("{}/**", glob.trim_end_matches(['/', '*']));
    let mut set = GlobSetBuilder::new();
    for glob in [glob, &folder].into_iter().filter_map(|glob| Glob::new(glob).ok()) {
        set.add(glob);
    }
    set.build().unwrap_or_default()
}

/// Whether a path below the root is one of a glob's.
pub(super) fn is_match(globs: &GlobSet, relative: &Path) -> bool {
    globs.is_match(relative) || relative.file_name().is_some_and(|name| globs.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_of_files_names_and_folders() {
        let holds = |glob: &str, path: &str| is_match(&globs(glob), Path::new(path));
        assert!(holds("tests/**", "tests/a/b.py") && holds("tests", "tests/b.py") && holds("*_test.py", "a/b_test.py"));
        assert!(!holds("tests/**", "src/tests.py") && !holds("tests", "atests/b.py"));
    }
}
