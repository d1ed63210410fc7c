//! Imports, and what the names of PySpark's modules are.

use super::Interpreter;
use crate::pyspark::api::{self, Class};
use crate::pyspark::ir::{Imported, Stmt, StmtNode};
use crate::pyspark::value::{Code, Object, SparkVersionValue, Value};

impl<'a> Interpreter<'a> {
    /// What the module's own imports tell before anything runs.
    pub(super) fn scan_imports(&mut self, tops: &[Code<'a>]) {
        for code in tops {
            for StmtNode { stmt, .. } in &code.top.body {
                let Stmt::Import(names) = stmt else { continue };
                for name in names {
                    let path = self.str(*code, name.from.unwrap_or(name.name));
                    self.plan.uses.is_spark |= api::is_spark_package(path);
                    self.has_snowpark |= path.starts_with("snowflake");
                }
            }
        }
    }

    pub(super) fn import(&mut self, code: Code<'a>, names: &'a [Imported]) {
        for imported in names {
            let name = self.str(code, imported.name);
            let alias = imported.alias.map(|alias| self.str(code, alias));
            let path = self.str(code, imported.from.unwrap_or(imported.name));
            self.note_import(path, imported.from.is_some().then_some(name), alias);
            let env = self.frame.env;
            match imported.from {
                None => {
                    // `import a.b` binds `a`; with an alias, the whole path.
                    let path = if alias.is_some() { name } else { name.split('.').next().unwrap_or(name) };
                    let value = match self.project_module(name) {
                        Some(full) => {
                            let end = full.len() - (name.len() - path.len());
                            Value::Project(full.get(..end).unwrap_or(&full).into())
                        }
                        None => module(path),
                    };
                    self.set(env, alias.unwrap_or(path), Some(value));
                }
                Some(_) if name == "*" => match self.project_module(path) {
                    Some(module) => self.import_all_of(&module),
                    None => self.import_all(path),
                },
                Some(_) => {
                    let value = match self.project_module(path) {
                        Some(module) => Value::Imported(module.into(), name),
                        None => self.member(path, name),
                    };
                    self.set(env, alias.unwrap_or(name), Some(value));
                }
            }
        }
    }

    fn note_import(&mut self, path: &str, name: Option<&str>, alias: Option<&str>) {
        let uses = &mut self.plan.uses;
        uses.is_spark |= api::is_spark_package(path);
        uses.connect |= path.starts_with("pyspark.pandas")
            || path.starts_with("pyspark.sql.connect")
            || path.starts_with("databricks.connect");
        let root = path.split('.').next().unwrap_or_default();
        uses.plots |=
            matches!(root, "matplotlib" | "seaborn" | "plotly" | "bokeh" | "altair" | "plotnine" | "ggplot" | "pylab");
        self.has_snowpark |= root == "snowflake";
        match (path, name) {
            ("pyspark.sql", Some("functions")) => {
                self.plan.uses.functions_alias = Some(alias.unwrap_or("functions").to_owned());
            }
            ("pyspark.sql.functions", None) => {
                self.plan.uses.functions_alias = Some(alias.unwrap_or(path).to_owned());
            }
            ("pyspark.sql.functions", Some(name)) if name != "*" => {
                self.plan.uses.imported_functions.push((name.to_owned(), alias.unwrap_or(name).to_owned()));
            }
            _ => {}
        }
    }

    fn import_all(&mut self, path: &str) {
        let env = self.frame.env;
        match path {
            "pyspark.sql.functions" => {
                self.plan.uses.imported_functions.push(("*".to_owned(), "*".to_owned()));
                for name in api::functions() {
                    self.set(env, name, Some(Value::Function(name)));
                }
            }
            "pyspark.sql" | "pyspark" => {
                for class in [
                    Class::SparkSession,
                    Class::DataFrame,
                    Class::Column,
                    Class::Window,
                    Class::SparkConf,
                    Class::SparkContext,
                    Class::SqlContext,
                ] {
                    self.set(env, class.word(), Some(Value::Class(class)));
                }
                self.set(env, "HiveContext", Some(Value::Class(Class::SqlContext)));
                if path == "pyspark.sql" {
                    self.set(env, "functions", Some(Value::Module("pyspark.sql.functions".into())));
                }
            }
            "awsglue.transforms" => {
                for name in super::library::GLUE_TRANSFORMS {
                    self.set(env, name, Some(Value::Module(format!("awsglue.transforms.{name}").into())));
                }
            }
            "pyspark.sql.window" => self.set(env, "Window", Some(Value::Class(Class::Window))),
            _ => {}
        }
    }

    /// The value of `path.name`.
    pub(super) fn member(&mut self, path: &str, name: &'a str) -> Value<'a> {
        match (path, name) {
            ("pyspark" | "pyspark.version", "__version__") => return Value::Version(SparkVersionValue::Whole),
            ("functools", "reduce") => return Value::Builtin("reduce"),
            ("functools", "partial") => return Value::Builtin("partial"),
            ("functools", "wraps") => return Value::Builtin("wraps"),
            ("pyspark.shell" | "databricks.sdk.runtime" | "pyspark.sql.session", "spark") => {
                return Value::Object(Object::Session);
            }
            ("pyspark", "pandas") => return Value::Module("pyspark.pandas".into()),
            ("pyspark.pandas", name) => return Value::Module(format!("pyspark.pandas.{name}").into()),
            _ if api::is_foreign_package(path) => return Value::Foreign,
            _ => {}
        }
        if path == "pyspark.sql.functions"
            || path == "pyspark.sql.connect.functions"
            || path == "pyspark.sql.functions.builtin"
        {
            return Value::Function(name);
        }
        if api::is_spark_package(path) {
            if let Some(class) = Class::named(name) {
                return Value::Class(class);
            }
            return module(&format!("{path}.{name}"));
        }
        // A module that is not of the project.
        Value::Unknown
    }
}

fn module<'a>(path: &str) -> Value<'a> {
    if api::is_foreign_package(path) && path != "pyspark.pandas" { Value::Foreign } else { Value::Module(path.into()) }
}
