//! Settings in everything that is no properties file: one contract, one reader for each format. What Python gives to its
//! own session is read with its code; the dicts, lists and texts in it that are for other jobs are read here.
//!
//! | carrier | keys that it can hold | who wins |
//! | --- | --- | --- |
//! | `spark-submit` and shells, in scripts, Makefiles, Dockerfiles, CI files | any with `--conf`, some with own flags | flag over `--conf` over properties file |
//! | SparkApplication (Kubernetes operator) | `sparkConf` any, `hadoopConf` below `spark.hadoop.`, fields | field over `sparkConf` |
//! | EMR classification `spark-defaults` | any | as `spark-defaults.conf`: below what a job brings |
//! | EMR Serverless, EMR on EKS, EMR steps | any in `sparkSubmitParameters` and `Args` | as `spark-submit` |
//! | Databricks `spark_conf` | any, Hadoop's own keys too | as `spark-defaults.conf`; `spark_submit_task` as `spark-submit` |
//! | Dataproc `properties` | clusters: `spark:` and the key, jobs and batches: the key | cluster as `spark-defaults.conf`, job as `--conf` |
//! | Livy, notebooks' `%%configure` | any in `conf`, fields (`driverMemory`) | field over `conf` |
//! | Glue `--conf` | any; further ones chained inside the one value | as `--conf` |
//! | Airflow `SparkSubmitOperator` | any in `conf`, arguments (`executor_memory`) | as `spark-submit`, which it calls |
//! | `spark-sql -e`, `%%sql`: `SET key = value` | any that may change at run time | over all of the above, from its line on |
//! | dbt `server_side_parameters`, `spark_config` | any | as `--conf` |
//! | Terraform | what the resource's provider takes, as above | as above |
//! | HOCON | any, nested or dotted | as `--conf`: the application hands it on |
//!
//! Promises: spans are exact to the character, through quotes, escapes, block scalars and one format inside another;
//! templates (Jinja, Helm, ERB, `${}`) are tolerated and what they fill in is [`Value::Template`]; broken input keeps
//! what stands around it; a text without Spark in it is never parsed; time is linear in the text.

mod collect;
mod dockerfile;
mod escapes;
mod hcl;
mod hocon;
mod json;
mod kind;
mod makefile;
mod mapped;
mod mask;
mod notebook;
mod shapes;
mod shell;
pub(crate) mod sql;
mod submit;
mod syntax;
mod tree;
mod words;
mod yaml;

use super::{Setting, Value};
use crate::text::Span;
use collect::Collector;
pub use kind::{CarrierKind, kind_of, may_hold_settings};
pub(crate) use mapped::Mapped;
pub use notebook::CellLanguage;
pub(crate) use notebook::{cells as cells_of_notebook, read_cells};
pub(crate) use shell::runs_tool;
pub use submit::flags;
pub(crate) use tree::{Entry, Node, Scalar, removal};

/// What was read out of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extract {
    /// The settings in source order; one that several commands share stands here once.
    pub settings: Vec<Setting>,
    /// What starts a job: commands and job definitions, in source order.
    pub submits: Vec<Submit>,
    /// Settings that stand in one map or list without a job around it, as indices into [`Extract::settings`]; no setting
    /// is in two of them, and none of a job in one.
    pub groups: Vec<Vec<usize>>,
    /// What Spark or the carrier's own tool reads otherwise than it looks, in source order.
    pub problems: Vec<Problem>,
}

impl Extract {
    /// The same without the settings that are not to be kept, by their places.
    pub(crate) fn retain(self, is_kept: &[bool]) -> Self {
        let mut next = 0;
        let places: Vec<Option<usize>> = is_kept
            .iter()
            .map(|is_kept| {
                next += usize::from(*is_kept);
                is_kept.then(|| next - 1)
            })
            .collect();
        let placed = |indices: Vec<usize>| indices.into_iter().filter_map(|index| places[index]).collect::<Vec<_>>();
        let Self { settings, mut submits, groups, problems } = self;
        submits.iter_mut().for_each(|submit| submit.settings = placed(std::mem::take(&mut submit.settings)));
        Self {
            settings: settings
                .into_iter()
                .zip(is_kept)
                .filter(|(_, kept)| **kept)
                .map(|(setting, _)| setting)
                .collect(),
            submits,
            groups: groups.into_iter().map(placed).filter(|group| !group.is_empty()).collect(),
            problems,
        }
    }
}

/// A command or a definition that starts a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Submit {
    /// What starts it.
    pub tool: Tool,
    /// The whole command or definition.
    pub span: Span,
    /// The application file as written; `None` for a shell, or where it isn't known.
    pub application: Option<Text>,
    /// The arguments of the application.
    pub arguments: Vec<Text>,
    /// `--properties-file`: replaces `spark-defaults.conf`.
    pub properties_file: Option<Text>,
    /// `--class`.
    pub class: Option<Text>,
    /// Its settings, as indices into [`Extract::settings`], weakest first: of two for one key and rank the later wins.
    pub settings: Vec<usize>,
    /// Options of spark-submit that stand behind the application file and so go to the application, each with its value.
    pub after_application: Vec<Span>,
}

/// What starts a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Tool {
    SparkSubmit,
    PySpark,
    SparkShell,
    SparkSql,
    SparkR,
    /// `PYSPARK_SUBMIT_ARGS`: what a Python process starts.
    PySparkSubmitArgs,
    /// A definition in YAML, JSON or HCL.
    Definition,
}

/// A piece of text as written in the document, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The decoded text; with holes it holds the variables as written.
    pub text: String,
    /// Its place, without quotes.
    pub span: Span,
    /// Something fills in a part of it.
    pub is_template: bool,
}

/// Something that is read otherwise than it looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// Which trap.
    pub kind: ProblemKind,
    /// What happens, in one sentence.
    pub message: String,
}

/// The traps of carriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// `--conf key = value`: the shell makes three arguments of it; the span is the whole.
    SpacedAssignment,
    /// `--conf key` without `=`: spark-submit stops; the span is the argument.
    MissingAssignment,
    /// An option that wants a value and stands at the end; the span is the option.
    MissingValue,
    /// `;` inside an unquoted value ends the command; the span is the `;`.
    UnquotedSemicolon,
    /// A further `key=value` in one value of Glue's `--conf` without a `--conf` of its own; the span is the pair.
    UnchainedConf,
    /// A number or boolean where a SparkApplication takes strings only; the span is the value.
    NotAString,
}

/// Reads a document. Never fails: what can't be read is left out, the rest is kept.
pub fn extract(kind: CarrierKind, text: &str) -> Extract {
    if !may_hold_settings(text) {
        return Extract::default();
    }
    let mut collector = Collector::default();
    match text.strip_prefix('\u{feff}') {
        Some(marked) => {
            let marked = Mapped::verbatim(text, Span::new(text.len() - marked.len(), text.len()));
            collector.embedded(&marked, |text, out| read(kind, text, out));
        }
        None => read(kind, text, &mut collector),
    }
    collector.finish()
}

/// Reads what another reader made of parts of a document: the dicts, lists and texts of a program.
pub(crate) fn extract_nodes(document: &str, nodes: &[Node<'_>]) -> Extract {
    let mut collector = Collector::default();
    nodes.iter().for_each(|node| shapes::read(document, node, &mut collector));
    collector.finish()
}

/// Reads a script that stands inside of a document.
pub(crate) fn extract_script(script: &Mapped<'_>) -> Extract {
    let mut collector = Collector::default();
    shell::read_string(script, &mut collector);
    collector.finish()
}

fn read(kind: CarrierKind, text: &str, out: &mut Collector) {
    match kind {
        CarrierKind::Shell => shell::read(text, out),
        CarrierKind::Makefile => makefile::read(text, out),
        CarrierKind::Dockerfile => dockerfile::read(text, out),
        CarrierKind::Yaml => yaml::read(text, out),
        CarrierKind::Json => json::read(text, out),
        CarrierKind::Notebook => notebook::read(text, out),
        CarrierKind::Hcl => hcl::read(text, out),
        CarrierKind::Hocon => hocon::read(text, out),
    }
}
