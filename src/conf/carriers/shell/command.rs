//! One command of a script: which tool of Spark it runs, directly or through a wrapper.

use tree_sitter::Node;

use super::decode::adjacent;
use super::{Script, read_embedded};
use crate::conf::Carrier;
use crate::conf::carriers::collect::Collector;
use crate::conf::carriers::mask;
use crate::conf::carriers::submit::{self, Layout, Options};
use crate::conf::carriers::syntax::{self, span};
use crate::conf::carriers::words::{Word, split};
use crate::conf::carriers::{ProblemKind, Submit, Text, Tool, shapes};
use crate::text::Span;

/// Commands that run the command behind them.
const WRAPPERS: [&str; 36] = [
    "exec",
    "sudo",
    "nohup",
    "time",
    "env",
    "nice",
    "ionice",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "docker-compose",
    "ssh",
    "gosu",
    "tini",
    "su-exec",
    "su",
    "runuser",
    "timeout",
    "xargs",
    "eval",
    "dumb-init",
    "poetry",
    "uv",
    "pipenv",
    "pixi",
    "hatch",
    "conda",
    "mamba",
    "setsid",
    "stdbuf",
    "command",
    "srun",
    "flock",
    "aws",
];

/// Commands that take settings for a job that runs elsewhere.
const CLIENTS: [&str; 5] = ["aws", "az", "curl", "databricks", "gcloud"];

/// Words of the shell's own that stand in front of a command.
const KEYWORDS: [&str; 8] = ["then", "do", "else", "if", "while", "!", "{", "elif"];

/// Commands that only print what stands behind them.
const PRINTERS: [&str; 4] = ["echo", "printf", "grep", "logger"];

/// Reads a command.
pub(super) fn read(script: &Script<'_>, node: Node<'_>, out: &mut Collector) {
    let arguments = arguments(node);
    let words: Vec<Word<'_>> = adjacent(&arguments).flat_map(|nodes| script.expand(nodes)).collect();
    let Some(first) = words.first() else { return };
    if PRINTERS.contains(&base(first.as_str())) {
        return;
    }
    let options = |from: usize| Options { document: script.text, words: &words[from..], layout: Layout::Line };
    if let Some((at, tool)) = find_tool(&words) {
        submit::read_command(tool, without_assignments(node, words[at].span), &options(at + 1), out);
        report_semicolon(script, node, &words, out);
        return;
    }
    if let Some(from) = gcloud_job(&words) {
        read_gcloud(node, &words, from, out);
        return;
    }
    if submit::mean_spark(&words) {
        submit::read_options(&options(1), out);
    }
    for (index, word) in words.iter().enumerate().skip(1) {
        if !read_embedded(word, out) {
            read_list(script, word, out);
            read_properties(script, &words, index, out);
        }
    }
}

/// The name and the arguments, without assignments in front of them and redirections.
fn arguments(node: Node<'_>) -> Vec<Node<'_>> {
    syntax::named_children(node)
        .into_iter()
        .filter(|child| {
            !matches!(child.kind(), "variable_assignment" | "comment" | "herestring_redirect" | "heredoc_redirect")
                && child.kind() != "file_redirect"
        })
        .collect()
}

/// The command's place from its first word on.
fn without_assignments(node: Node<'_>, tool: Span) -> Span {
    let name = node.child_by_field_name("name").map_or(tool, span);
    name.cover(Span::new(name.end as usize, node.end_byte().max(name.end as usize)))
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Which word names a tool of Spark, and which tool.
fn find_tool(words: &[Word<'_>]) -> Option<(usize, Tool)> {
    let first = words.first()?;
    if let Some(tool) = submit::tool(first.as_str()) {
        return Some((0, tool));
    }
    let name = base(first.as_str());
    let runs_others = WRAPPERS.contains(&name) || first.holes.from(0) || name.ends_with(".sh") || is_shell(name);
    let found = words.iter().enumerate().skip(1).find_map(|(at, word)| Some((at, submit::tool(word.as_str())?)));
    found.filter(|(at, _)| runs_others && !words[..*at].iter().any(|word| word.as_str() == "-v" && name == "command"))
}

/// Whether a text reads as a script that runs one of Spark's tools, told from a sentence about it: a tool or a wrapper
/// stands where a command begins.
pub(crate) fn runs_tool(text: &str) -> bool {
    let masked = mask::templates(text);
    let begins = |command: &str| {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let is_before =
            |word: &&str| KEYWORDS.contains(word) || word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let Some(first) = words.find(|word| !is_before(word)) else { return false };
        let wraps = WRAPPERS.contains(&base(first)) || is_shell(base(first)) || first.starts_with('$');
        submit::tool(first).is_some() || wraps && words.any(|word| submit::tool(word).is_some())
    };
    masked.split(['\n', ';', '&', '|', '(']).any(begins)
}

/// Whether a text reads as a script that calls a client of a cloud or a service, which may take settings of Spark.
pub(super) fn calls_client(text: &str) -> bool {
    let begins = |command: &str| command.split_whitespace().next().is_some_and(|name| CLIENTS.contains(&base(name)));
    text.split(['\n', ';', '&', '|', '(']).any(begins)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_shell(name: &str) -> bool {
    matches!(name, "bash" | "sh" | "zsh")
}

/// `--conf spark.x=a;b`: the shell ends the command at the `;`.
fn report_semicolon(script: &Script<'_>, node: Node<'_>, words: &[Word<'_>], out: &mut Collector) {
    let end = node.end_byte();
    let [.., option, value] = words else { return };
    let is_conf = option.as_str() == "--conf" || value.as_str().starts_with("--conf=");
    let mut behind = script.text[end..].chars();
    let cuts = behind.next() == Some(';') && behind.next().is_some_and(|char| !char.is_whitespace() && char != ';');
    if is_conf && cuts && value.span.end as usize == end {
        let message = "The shell ends the command at this `;` and Spark gets the value up to it: quote the value.";
        out.problem(ProblemKind::UnquotedSemicolon, Span::new(end, end + 1), message);
    }
}

/// `Args=[--conf,spark.x=1]` of `aws emr add-steps`: words parted by commas.
fn read_list(script: &Script<'_>, word: &Word<'_>, out: &mut Collector) {
    let text = word.as_str();
    for (at, opening) in text.match_indices("Args=[") {
        let start = at + opening.len();
        let end = text[start..].find(']').map_or(text.len(), |length| start + length);
        let mut words = Vec::new();
        let mut from = start;
        for part in text[start..end].split(',') {
            words.push(Word::known(word.text.slice(from..from + part.len())));
            from += part.len() + 1;
        }
        let (from, tool) = match words.iter().position(|word| submit::tool(word.as_str()).is_some()) {
            Some(at) => (at + 1, submit::tool(words[at].as_str())),
            None => (0, text.contains("Type=Spark").then_some(Tool::SparkSubmit)),
        };
        let options = Options { document: script.text, words: &words[from..], layout: Layout::List };
        match tool {
            Some(tool) => submit::read_command(tool, word.span, &options, out),
            None => drop(submit::read_options(&options, out)),
        }
    }
}

/// Where the options of `gcloud dataproc jobs submit pyspark` begin, of a batch too.
fn gcloud_job(words: &[Word<'_>]) -> Option<usize> {
    let is = |at: usize, name: &str| words.get(at).is_some_and(|word| word.as_str() == name);
    let at = words.iter().position(|word| word.as_str() == "submit").filter(|_| base(words[0].as_str()) == "gcloud")?;
    let runs_spark = ["pyspark", "spark", "spark-sql", "spark-r"].iter().any(|kind| is(at + 1, kind));
    (runs_spark && words[..at].iter().any(|word| word.as_str() == "dataproc")).then_some(at + 2)
}

/// A job of Dataproc: the first word that is no option is the script, what stands behind `--` is for it.
fn read_gcloud(node: Node<'_>, words: &[Word<'_>], from: usize, out: &mut Collector) {
    let mut submit = Submit {
        tool: Tool::Definition,
        span: without_assignments(node, words[0].span),
        application: None,
        arguments: Vec::new(),
        properties_file: None,
        class: None,
        settings: Vec::new(),
        after_application: Vec::new(),
    };
    let mut at = from;
    while let Some(word) = words.get(at) {
        at += 1;
        let (name, inline) = submit::parts(word);
        match name {
            "--" => {
                submit.arguments = words[at..].iter().map(Word::to_text).collect();
                break;
            }
            "--properties" | "--class" | "--jar" | "--py-files" | "--properties-file" => {
                let Some((value, start)) = submit::value_of(words, at, word, inline) else { break };
                at += usize::from(inline.is_none());
                let text = value.text.slice(start..value.as_str().len());
                match name {
                    "--properties" => {
                        let has_holes = value.holes.from(start);
                        submit.settings.extend(shapes::read_property_list(&text, has_holes, Carrier::Job, out));
                    }
                    "--class" => submit.class = Some(Text::of(&text, value.holes.from(start))),
                    "--jar" => submit.application = Some(Text::of(&text, value.holes.from(start))),
                    _ => {}
                }
            }
            _ if name.starts_with('-') => {}
            _ if submit.application.is_none() && submit::is_application(name) => {
                submit.application = Some(word.to_text())
            }
            _ => {}
        }
    }
    out.submit(submit);
}

/// `--properties` of `gcloud dataproc`, and values with options in them.
fn read_properties(script: &Script<'_>, words: &[Word<'_>], index: usize, out: &mut Collector) {
    let word = &words[index];
    let text = word.as_str();
    let value = text.strip_prefix("--properties=").map(|value| text.len() - value.len());
    let from = match value {
        Some(from) => from,
        None if words[index - 1].as_str() == "--properties" => 0,
        None => {
            if text.contains("--conf") && text.contains(char::is_whitespace) {
                let parts = split(&word.text);
                let options = Options { document: script.text, words: &parts, layout: Layout::Line };
                submit::read_options(&options, out);
            }
            return;
        }
    };
    let creates_cluster = words.iter().any(|word| word.as_str() == "clusters");
    let carrier = if creates_cluster { Carrier::Cluster } else { Carrier::Job };
    let settings = shapes::read_property_list(&word.text.slice(from..text.len()), word.holes.from(from), carrier, out);
    out.group(&settings);
}
