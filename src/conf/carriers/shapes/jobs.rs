//! Job definitions: Livy, Airflow, Dataproc, EMR Serverless, Databricks, Glue.

use super::Shapes;
use crate::conf::Carrier;
use crate::conf::carriers::tree::{Node, Scalar};
use crate::conf::carriers::{Submit, Text, Tool};
use crate::text::Span;

/// How a service names the parts of a job.
struct Shape {
    application: &'static [&'static str],
    arguments: &'static [&'static str],
    class: &'static [&'static str],
    /// The map of settings.
    conf: &'static [&'static str],
    /// Fields that stand for keys; they win over the map.
    fields: &'static [(&'static str, &'static str)],
}

const LIVY: Shape = Shape {
    application: &["file"],
    arguments: &["args"],
    class: &["className"],
    conf: &["conf"],
    fields: &[
        ("driverMemory", "spark.driver.memory"),
        ("driverCores", "spark.driver.cores"),
        ("executorMemory", "spark.executor.memory"),
        ("executorCores", "spark.executor.cores"),
        ("numExecutors", "spark.executor.instances"),
        ("queue", "spark.yarn.queue"),
        ("name", "spark.app.name"),
    ],
};

const AIRFLOW: Shape = Shape {
    application: &["application", "file"],
    arguments: &["application_args", "args"],
    class: &["java_class", "class_name"],
    conf: &["conf"],
    fields: &[
        ("driver_memory", "spark.driver.memory"),
        ("driver_cores", "spark.driver.cores"),
        ("driver_class_path", "spark.driver.extraClassPath"),
        ("executor_memory", "spark.executor.memory"),
        ("executor_cores", "spark.executor.cores"),
        ("num_executors", "spark.executor.instances"),
        ("total_executor_cores", "spark.cores.max"),
        ("packages", "spark.jars.packages"),
        ("exclude_packages", "spark.jars.excludes"),
        ("repositories", "spark.jars.repositories"),
        ("jars", "spark.jars"),
        ("files", "spark.files"),
        ("py_files", "spark.submit.pyFiles"),
        ("archives", "spark.archives"),
        ("principal", "spark.kerberos.principal"),
        ("keytab", "spark.kerberos.keytab"),
        ("deploy_mode", "spark.submit.deployMode"),
        ("yarn_queue", "spark.yarn.queue"),
        ("queue", "spark.yarn.queue"),
        ("name", "spark.app.name"),
    ],
};

const DATAPROC: Shape = Shape {
    application: &["mainPythonFileUri", "main_python_file_uri", "mainJarFileUri", "main_jar_file_uri"],
    arguments: &["args"],
    class: &["mainClass", "main_class"],
    conf: &["properties"],
    fields: &[],
};

const EMR: Shape = Shape {
    application: &["entryPoint", "EntryPoint", "entry_point"],
    arguments: &["entryPointArguments", "EntryPointArguments", "entry_point_arguments"],
    class: &[],
    conf: &[],
    fields: &[],
};

impl Shapes<'_, '_> {
    /// A map that defines a job.
    pub(super) fn job(&mut self, node: &Node<'_>) {
        if let Some(task) = node.get(&["spark_submit_task"]).and_then(|task| task.get(&["parameters"])) {
            let words = task.scalars().unwrap_or_default();
            self.command(&words, Some(Tool::SparkSubmit));
        }
        if node.scalar(DATAPROC.application).is_some() {
            self.shaped(node, &DATAPROC);
        } else if is_emr(node) {
            self.emr_job(node);
        } else if is_databricks(node) {
            self.databricks_task(node);
        } else if let Some(script) = glue_script(node) {
            self.glue_job(node, script);
        } else if is_airflow(node) {
            self.shaped(node, &AIRFLOW);
        } else if is_livy(node) {
            self.shaped(node, &LIVY);
        }
    }

    /// A session of Livy, by `%%configure`.
    pub(super) fn session(&mut self, node: &Node<'_>) {
        if !node.entries().is_empty() {
            self.shaped(node, &LIVY);
        }
    }

    fn shaped(&mut self, node: &Node<'_>, shape: &Shape) {
        let mut settings = Vec::new();
        if let Some(conf) = node.get(shape.conf) {
            settings.extend(self.all(conf, Carrier::Job));
        }
        for (name, key) in shape.fields {
            settings.extend(node.entry(&[name]).and_then(|entry| self.field(entry, (*key).to_owned())));
        }
        let submit =
            definition(self.document, node, node.scalar(shape.application), node.get(shape.arguments), settings);
        let class = node.scalar(shape.class).map(text);
        let properties_file = node.scalar(&["properties_file"]).map(text);
        self.out.submit(Submit { class, properties_file, ..submit });
    }

    fn emr_job(&mut self, node: &Node<'_>) {
        let settings = match node.scalar(&super::OPTION_STRINGS) {
            Some(parameters) => self.options(parameters),
            None => Vec::new(),
        };
        let submit = definition(self.document, node, node.scalar(EMR.application), node.get(EMR.arguments), settings);
        self.out.submit(submit);
    }

    fn databricks_task(&mut self, node: &Node<'_>) {
        let Some(task) = node.get(&["spark_python_task"]) else { return };
        let conf = node.get(&["new_cluster"]).and_then(|cluster| cluster.get(&["spark_conf"]));
        let settings = conf.map(|conf| self.all(conf, Carrier::Cluster)).unwrap_or_default();
        let submit =
            definition(self.document, node, task.scalar(&["python_file"]), task.get(&["parameters"]), settings);
        self.out.submit(submit);
    }

    fn glue_job(&mut self, node: &Node<'_>, script: &Scalar<'_>) {
        let arguments = node.get(&["DefaultArguments", "default_arguments", "defaultArguments"]);
        let chain = arguments.and_then(|arguments| arguments.scalar(&["--conf"]));
        let settings = chain.map(|chain| self.chain(chain)).unwrap_or_default();
        let submit = definition(self.document, node, Some(script), None, settings);
        self.out.submit(submit);
    }
}

fn has(node: &Node<'_>, name: &str) -> bool {
    node.entry(&[name]).is_some()
}

fn is_emr(node: &Node<'_>) -> bool {
    node.scalar(&super::OPTION_STRINGS).is_some() || node.scalar(EMR.application).is_some() && has(node, "entryPoint")
}

fn is_databricks(node: &Node<'_>) -> bool {
    node.get(&["spark_python_task"]).is_some_and(|task| task.scalar(&["python_file"]).is_some())
}

fn glue_script<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Scalar<'a>> {
    let command = node.get(&["Command", "command"])?;
    command.scalar(&["ScriptLocation", "script_location", "scriptLocation"])
}

/// The arguments of Airflow's operator, in Python or in a YAML file that a DAG is made of.
fn is_airflow(node: &Node<'_>) -> bool {
    let operator = node.scalar(&["operator"]).is_some_and(|operator| operator.as_str().contains("SparkSubmit"));
    let has_settings = ["conf", "executor_memory", "driver_memory", "num_executors", "executor_cores"]
        .iter()
        .any(|name| has(node, name));
    operator || node.scalar(&["application"]).is_some() && has_settings
}

fn is_livy(node: &Node<'_>) -> bool {
    let field = LIVY.fields.iter().take(5).any(|(name, _)| has(node, name));
    let conf =
        node.get(&["conf"]).is_some_and(|conf| conf.entries().iter().any(|entry| super::is_key(entry.key.as_str())));
    let file = node.scalar(&["file"]).is_some();
    conf && (field || file || has(node, "kind") || has(node, "proxyUser")) || field && file
}

fn text(scalar: &Scalar<'_>) -> Text {
    Text::of(&scalar.text, scalar.has_holes)
}

/// A job that a map defines.
pub(super) fn definition(
    document: &str,
    node: &Node<'_>,
    application: Option<&Scalar<'_>>,
    arguments: Option<&Node<'_>>,
    settings: Vec<usize>,
) -> Submit {
    Submit {
        tool: Tool::Definition,
        span: whole(document, node),
        application: application.map(text),
        arguments: arguments.and_then(Node::scalars).unwrap_or_default().into_iter().map(text).collect(),
        properties_file: None,
        class: None,
        settings,
        after_application: Vec::new(),
    }
}

/// From the first key to the end of the last entry.
fn whole(document: &str, node: &Node<'_>) -> Span {
    let [first, .., last] = node.entries() else {
        return node.entries().first().map(|only| only.span).unwrap_or_default();
    };
    let start = first.key.span.start as usize;
    let text = document.get(start..last.span.end as usize).unwrap_or_default();
    Span::new(start, start + text.trim_end_matches(|char: char| char.is_whitespace() || char == ',').len())
}
