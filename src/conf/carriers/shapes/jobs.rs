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
    conf: &["conf", "spark_conf"],
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

/// Airflow's operators and hooks that take these arguments.
const AIRFLOWS_OWN: [&str; 6] =
    ["SparkSubmit", "SparkSqlOperator", "SparkSqlHook", "SparkJDBCOperator", "SparkJDBCHook", "LivyOperator"];

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
        if let Some(arguments) = emr_step(node) {
            self.command(&arguments, Some(Tool::SparkSubmit));
        }
        if node.scalar(DATAPROC.application).is_some() {
            self.shaped(node, &DATAPROC);
        } else if let Some((batch, properties)) = dataproc_batch(node) {
            let settings = self.all(properties, Carrier::Job);
            self.defined(batch, &DATAPROC, settings);
        } else if let Some(driver) = emr_driver(node) {
            let overrides = node.get(&["configurationOverrides", "configuration_overrides", "ConfigurationOverrides"]);
            let settings = overrides.map(|overrides| self.classified(overrides)).unwrap_or_default();
            self.emr_job(driver, settings);
        } else if is_emr(node) {
            self.emr_job(node, Vec::new());
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
        match node.get(shape.conf) {
            Some(Node::Scalar(conf)) => settings.extend(self.chain("conf", conf)),
            Some(conf) => settings.extend(self.all(conf, Carrier::Job)),
            None => {}
        }
        for (name, key) in shape.fields {
            settings.extend(node.entry(&[name]).and_then(|entry| self.field(entry, (*key).to_owned())));
        }
        self.defined(node, shape, settings);
    }

    /// A job with these settings.
    fn defined(&mut self, node: &Node<'_>, shape: &Shape, settings: Vec<usize>) {
        let submit =
            definition(self.document, node, node.scalar(shape.application), node.get(shape.arguments), settings);
        let class = node.scalar(shape.class).map(text);
        let properties_file = node.scalar(&["properties_file"]).map(text);
        self.out.submit(Submit { class, properties_file, ..submit });
    }

    /// A driver of EMR Serverless or EMR on EKS; `settings` are those that its cluster's files get for it.
    fn emr_job(&mut self, node: &Node<'_>, mut settings: Vec<usize>) {
        if let Some(parameters) = node.scalar(&super::OPTION_STRINGS) {
            settings.extend(self.options(parameters));
        }
        self.defined(node, &EMR, settings);
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
        let arguments = node.get(&["DefaultArguments", "default_arguments", "defaultArguments", "script_args"]);
        let chain = arguments.and_then(|arguments| arguments.scalar(&["--conf"]));
        let settings = chain.map(|chain| self.chain("--conf", chain)).unwrap_or_default();
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

/// The script of a job of Glue; Airflow's operator has it among its own arguments.
fn glue_script<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Scalar<'a>> {
    let command = node.get(&["Command", "command"]).or_else(|| has(node, "script_args").then_some(node))?;
    command.scalar(&["ScriptLocation", "script_location", "scriptLocation"])
}

/// A batch of Dataproc and its properties, which stand beside it.
fn dataproc_batch<'n, 'a>(node: &'n Node<'a>) -> Option<(&'n Node<'a>, &'n Node<'a>)> {
    let batch = node.get(&["pysparkBatch", "pyspark_batch", "sparkBatch", "spark_batch"])?;
    let properties = node.get(&["runtimeConfig", "runtime_config"])?.get(&["properties"])?;
    batch.scalar(DATAPROC.application).is_some().then_some((batch, properties))
}

/// The arguments of a step of EMR that is one of Spark by its type.
fn emr_step<'n, 'a>(node: &'n Node<'a>) -> Option<Vec<&'n Scalar<'a>>> {
    let is_spark = node.scalar(&["Type"]).is_some_and(|kind| kind.as_str().eq_ignore_ascii_case("spark"));
    node.get(&["Args"]).filter(|_| is_spark).and_then(Node::scalars)
}

/// The driver of a job of EMR Serverless or EMR on EKS.
fn emr_driver<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let driver = node.get(&["jobDriver", "job_driver", "JobDriver"])?;
    driver.get(&["sparkSubmit", "spark_submit", "SparkSubmit", "sparkSubmitJobDriver", "spark_submit_job_driver"])
}

/// The arguments of one of Airflow's operators, in Python or in a YAML file that a DAG is made of.
fn is_airflow(node: &Node<'_>) -> bool {
    let is_own = |name: &str| AIRFLOWS_OWN.iter().any(|own| name.contains(own));
    let operator = node.scalar(&["operator"]).is_some_and(|operator| is_own(operator.as_str()));
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
