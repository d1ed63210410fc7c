//! Where settings stand in structured documents, whatever their syntax.
//!
//! A key that begins with `spark.` is a setting in any map; which carrier it is follows from the keys above it. Some
//! maps hold settings whatever their keys look like (`spark_conf`), and some fields stand for keys (`executorMemory`).
//! What a document only speaks of, as an example in a catalogue of rules, is no setting: see `documented`.

mod chain;
mod documented;
mod emr;
mod jobs;
mod kubernetes;

use super::collect::{self, Collector};
use super::submit::{self, Layout, Options};
use super::tree::{Entry, MAX_DEPTH, Node, Scalar};
use super::words::{Word, split};
use super::{Tool, Value, shell};
use crate::conf::{Carrier, Setting, template};
use crate::text::Span;
pub(super) use chain::read_property_list;

/// Maps that hold settings of a whole cluster.
const CLUSTER_MAPS: [&str; 2] = ["spark_conf", "sparkConfig"];

/// Maps that hold the settings of a job, or of a session.
const JOB_MAPS: [&str; 6] =
    ["sparkConf", "spark_config", "sparkProperties", "spark_properties", "server_side_parameters", "spark_configs"];

/// YAML's key that draws in another map.
const MERGE: &str = "<<";

/// Texts for people.
const PROSE: [&str; 18] = [
    "description",
    "Description",
    "comment",
    "title",
    "summary",
    "doc",
    "docs",
    "doc_md",
    "epilog",
    "usage",
    "msg",
    "help",
    "message",
    "notes",
    "displayName",
    "display_name",
    "text",
    "name",
];

/// Strings that hold options of spark-submit.
const OPTION_STRINGS: [&str; 4] =
    ["sparkSubmitParameters", "SparkSubmitParameters", "spark_submit_parameters", "spark-submit-parameters"];

/// Reads a document.
pub(super) fn read(document: &str, root: &Node<'_>, out: &mut Collector) {
    Shapes { document, out, strings_only: false, documented: false }.node(root, Carrier::Job, 0);
}

/// Reads a command that stands in a list of strings.
pub(super) fn read_command(document: &str, words: &[&Scalar<'_>], out: &mut Collector) {
    Shapes { document, out, strings_only: false, documented: false }.command(words, None);
}

/// Reads the body of `%%configure`, which Livy takes or Glue.
pub(super) fn read_session(document: &str, root: &Node<'_>, out: &mut Collector) {
    let nodes = if let Node::List(nodes) = root { nodes.as_slice() } else { std::slice::from_ref(root) };
    let mut shapes = Shapes { document, out, strings_only: false, documented: false };
    for node in nodes {
        shapes.session(node);
        shapes.node(node, Carrier::Job, 0);
    }
}

struct Shapes<'d, 'o> {
    document: &'d str,
    out: &'o mut Collector,
    /// Inside of a manifest that takes nothing but strings as values.
    strings_only: bool,
    /// Inside of an article that explains settings.
    documented: bool,
}

impl Shapes<'_, '_> {
    fn node(&mut self, node: &Node<'_>, carrier: Carrier, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match node {
            Node::Map(entries) => {
                let commands = self.jobs(node);
                let mut settings = Vec::new();
                let outer = self.documented;
                self.documented |= depth > 0 && documented::explains(entries);
                for entry in entries.iter().filter(|entry| !commands.contains(&entry.key.as_str())) {
                    settings.extend(self.entry(entry, carrier, depth));
                }
                self.documented = outer;
                self.out.group(&settings);
            }
            Node::List(nodes) => {
                if !self.command_list(node) {
                    nodes.iter().for_each(|node| self.node(node, carrier, depth + 1));
                }
            }
            Node::Scalar(scalar) => self.text(scalar),
            Node::Unknown(_) => {}
        }
    }

    /// What the whole of a map says: a job, a classification, a container. Says which of its keys are read with it.
    fn jobs(&mut self, node: &Node<'_>) -> [&'static str; 2] {
        self.kubernetes(node);
        self.environment_variable(node);
        self.classification(node);
        self.job(node);
        self.container(node)
    }

    /// Reads an entry; says which setting it is, if it is one itself.
    fn entry(&mut self, entry: &Entry<'_>, carrier: Carrier, depth: usize) -> Option<usize> {
        let name = entry.key.as_str();
        if is_key(name) && !matches!(entry.value, Node::Map(_) | Node::List(_)) {
            return if self.documented { None } else { self.setting(entry, carrier) };
        }
        if let Some(carrier) = carrier_of_map(name) {
            self.all(&entry.value, carrier);
        }
        match &entry.value {
            Node::Scalar(value) => self.named_text(name, value),
            Node::Map(_) | Node::List(_) => {
                let outer = self.documented;
                self.documented &= !documented::is_handed_to_spark(name);
                self.node(&entry.value, carrier_below(name, carrier), depth + 1);
                self.documented = outer;
            }
            Node::Unknown(_) => {}
        }
        None
    }

    /// Every entry of a map whose entries are settings, whatever their keys.
    fn all(&mut self, map: &Node<'_>, carrier: Carrier) -> Vec<usize> {
        // An expression that chooses between maps is a list of them.
        let maps = if let Node::List(maps) = map { maps.as_slice() } else { std::slice::from_ref(map) };
        let is_setting =
            |entry: &&Entry<'_>| !matches!(entry.value, Node::Map(_) | Node::List(_)) && entry.key.as_str() != MERGE;
        let entries = maps.iter().flat_map(Node::entries).filter(is_setting);
        let settings: Vec<usize> = entries.filter_map(|entry| self.setting(entry, carrier)).collect();
        self.out.group(&settings);
        settings
    }

    fn setting(&mut self, entry: &Entry<'_>, carrier: Carrier) -> Option<usize> {
        let (key, from) = key_of(entry.key.as_str());
        let whole = entry.key.as_str().len();
        let hole = template::placeholder(key).or(entry.key.has_holes.then_some(0));
        let known = hole.unwrap_or(key.len());
        if known == 0 {
            return None;
        }
        let to = if hole.is_some() { from + known } else { whole };
        let (value, value_span) = value_of(&entry.value);
        let setting = Setting {
            key: key[..known].to_owned(),
            key_is_prefix: hole.is_some(),
            value,
            key_span: entry.key.text.span(from..to),
            value_span,
            span: entry.span,
            carrier: if carrier == Carrier::Job && from > 0 { Carrier::Cluster } else { carrier },
        };
        self.check_string(entry);
        Some(self.out.add(setting))
    }

    /// The setting that a field with a name of its own stands for.
    fn field(&mut self, entry: &Entry<'_>, key: String) -> Option<usize> {
        if matches!(entry.value, Node::Map(_) | Node::List(_)) {
            return None;
        }
        let (value, value_span) = value_of(&entry.value);
        Some(self.out.add(Setting {
            key,
            key_is_prefix: false,
            value,
            key_span: entry.key.text.whole(),
            value_span,
            span: entry.span,
            carrier: Carrier::JobField,
        }))
    }

    /// A text with a name: options, a chain of settings, a script.
    fn named_text(&mut self, name: &str, value: &Scalar<'_>) {
        if PROSE.contains(&name) {
            return;
        }
        if OPTION_STRINGS.contains(&name) {
            self.options(value);
        } else if matches!(name, "--conf" | "conf") {
            let settings = self.chain(name, value);
            self.out.group(&settings);
        } else if is_variable_with_options(name, value.as_str()) {
            self.variable(name, value.text.whole(), &split(&value.text));
        } else {
            self.text(value);
        }
    }

    fn options(&mut self, value: &Scalar<'_>) -> Vec<usize> {
        let words = split(&value.text);
        let options = Options { document: self.document, words: &words, layout: Layout::Line };
        submit::read_options(&options, self.out)
    }

    fn variable(&mut self, name: &str, whole: Span, words: &[Word<'_>]) {
        shell::read_variable(self.document, name, whole, words, self.out);
    }

    /// A text that may be a script, or `NAME=value` of an environment.
    fn text(&mut self, scalar: &Scalar<'_>) {
        let text = scalar.as_str();
        match text.split_once('=') {
            Some((name, value)) if is_variable_with_options(name, value) && !text.contains('\n') => {
                let words = split(&scalar.text.slice(name.len() + 1..text.len()));
                self.variable(name, scalar.text.whole(), &words);
            }
            _ if submit::begins_with_option(text) => drop(self.options(scalar)),
            _ => {
                shell::read_embedded(&Word::of_scalar(scalar), self.out);
            }
        }
    }

    /// A list that is a command: its tool and the words behind it. Says whether it is.
    fn command_list(&mut self, node: &Node<'_>) -> bool {
        let Some(scalars) = node.scalars() else { return false };
        self.command(&scalars, None)
    }

    /// A command in words; `tool` if the list holds its arguments only.
    fn command(&mut self, scalars: &[&Scalar<'_>], tool: Option<Tool>) -> bool {
        let words: Vec<Word<'_>> = scalars.iter().map(|scalar| Word::of_scalar(scalar)).collect();
        let [first, .., last] = words.as_slice() else { return false };
        let whole = first.span.cover(last.span);
        let has_options = words.iter().any(|word| {
            let name = word.as_str().split('=').next().unwrap_or_default();
            name == "--conf" || submit::key_of_flag(name).is_some()
        });
        let found = words.iter().position(|word| submit::tool(word.as_str()).is_some());
        let (from, tool) = match (found, tool) {
            (Some(at), _) => (at + 1, submit::tool(words[at].as_str())),
            (None, given) => (0, given),
        };
        let options = Options { document: self.document, words: &words[from..], layout: Layout::List };
        match tool {
            Some(tool) if has_options || tool == Tool::SparkSubmit => {
                submit::read_command(tool, whole, &options, self.out);
                true
            }
            _ => has_options && !submit::read_options(&options, self.out).is_empty(),
        }
    }

    /// A service of compose or a container of Kubernetes, whose command stands in two lists. Says in which.
    fn container(&mut self, node: &Node<'_>) -> [&'static str; 2] {
        for names in [["entrypoint", "command"], ["command", "args"]] {
            let list = |name: &str| node.get(&[name]).and_then(Node::scalars);
            if let [Some(mut command), Some(arguments)] = names.map(list) {
                command.extend(arguments);
                if self.command(&command, None) {
                    return names;
                }
            }
        }
        [""; 2]
    }

    /// `{name: PYSPARK_SUBMIT_ARGS, value: …}`.
    fn environment_variable(&mut self, node: &Node<'_>) {
        let scalar = |names: &[&str]| node.scalar(names);
        if let (Some(name), Some(value)) = (scalar(&["name", "Name"]), scalar(&["value", "Value"]))
            && is_variable_with_options(name.as_str(), value.as_str())
        {
            self.variable(name.as_str(), value.text.whole(), &split(&value.text));
        }
    }
}

/// Whether a key is one of Spark, possibly behind Dataproc's `spark:`.
fn is_key(name: &str) -> bool {
    let (key, _) = key_of(name);
    key.len() > "spark.".len() && key.starts_with("spark.") && !key.contains(['/', ' ', '\n'])
}

/// The key without Dataproc's prefix, and where it begins.
fn key_of(name: &str) -> (&str, usize) {
    match name.strip_prefix("spark:") {
        Some(key) => (key, "spark:".len()),
        None => (name, 0),
    }
}

fn carrier_of_map(name: &str) -> Option<Carrier> {
    if CLUSTER_MAPS.contains(&name) { Some(Carrier::Cluster) } else { JOB_MAPS.contains(&name).then_some(Carrier::Job) }
}

/// The carrier of the settings below a key.
fn carrier_below(name: &str, carrier: Carrier) -> Carrier {
    match name {
        "softwareConfig" | "software_config" => Carrier::Cluster,
        _ => carrier_of_map(name).unwrap_or(carrier),
    }
}

/// Whether it is a variable of an environment with options in it: those come first, or behind another variable.
fn is_variable_with_options(name: &str, value: &str) -> bool {
    is_environment_name(name) && value.contains("--") && value.trim_start().starts_with(['-', '$', '{', '"', '\''])
}

fn is_environment_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// What is known of a value, and its place.
fn value_of(node: &Node<'_>) -> (Value, Span) {
    match node {
        Node::Scalar(scalar) => {
            let text = if scalar.plain { plain_text(scalar.as_str()) } else { scalar.as_str() };
            (collect::literal_or_template(text, scalar.has_holes), scalar.text.whole())
        }
        Node::Unknown(span) => (Value::Unknown, *span),
        Node::Map(_) | Node::List(_) => (Value::Unknown, Span::default()),
    }
}

/// Booleans without quotes reach Spark as `true` and `false`, however they are written.
fn plain_text(text: &str) -> &str {
    match text {
        "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => "true",
        "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => "false",
        other => other,
    }
}
