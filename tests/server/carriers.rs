//! What an editor gets in every carrier. In `carriers/NAME/` the file `key.*` is completed at `│` with the first offer,
//! `value.*` with the last one, `hover.*` is hovered there, and in `fix.*` the first quick fix is applied; `expected.txt`
//! shows what came of each.
//!
//! `SPARKLS_BLESS=1 cargo test --test server` writes it anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Client, uri};

const MARK: char = '│';

/// What editors call the documents with these endings.
fn language(ending: &str) -> &str {
    match ending {
        "sh" => "shellscript",
        "mk" => "makefile",
        "yml" => "yaml",
        "ipynb" => "json",
        "tf" => "terraform",
        other => other,
    }
}

/// A document as it is opened, and where its mark was.
struct Opened {
    uri: String,
    text: String,
    line: u32,
    character: u32,
}

async fn open(client: &mut Client, root: &Path, file: &Path) -> Opened {
    let marked = std::fs::read_to_string(file).unwrap();
    let name = file.file_name().unwrap();
    let before = marked.split(MARK).next().unwrap_or_default();
    let line = before.matches('\n').count() as u32;
    let character = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count() as u32;
    let opened = Opened { uri: uri(&root.join(name)), text: marked.replace(MARK, ""), line, character };
    let ending = file.extension().unwrap().to_str().unwrap();
    client.open_as(&opened.uri, language(ending), &opened.text).await;
    opened
}

/// The text with edits applied, positions in UTF-16.
fn applied(text: &str, edits: &[Value]) -> String {
    let offset = |position: &Value| {
        let (line, column) = (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap());
        let start: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
        let mut units = 0;
        let within = text[start..].char_indices().find(|(_, character)| {
            let is_there = units >= column;
            units += character.len_utf16() as u64;
            is_there
        });
        within.map_or(text.len(), |(at, _)| start + at)
    };
    let mut edits: Vec<_> = edits
        .iter()
        .map(|edit| (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), edit["newText"].as_str().unwrap()))
        .collect();
    edits.sort();
    let mut result = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        result.replace_range(start..end, new);
    }
    result
}

/// The first line that differs.
fn changed_line(before: &str, after: &str) -> String {
    let line = after.lines().zip(before.lines().chain(std::iter::repeat(""))).find(|(after, before)| after != before);
    line.map_or_else(|| "(nothing changed)".to_owned(), |(line, _)| line.trim().to_owned())
}

async fn offers(client: &mut Client, at: &Opened) -> Vec<Value> {
    let params = crate::client::at(&at.uri, at.line, at.character);
    let list = client.request("textDocument/completion", params).await.unwrap();
    list["items"].as_array().cloned().unwrap_or_default()
}

async fn completed(client: &mut Client, at: &Opened, choose: impl Fn(&[Value]) -> Option<Value>) -> String {
    let offers = offers(client, at).await;
    let labels: Vec<&str> = offers.iter().take(8).map(|offer| offer["label"].as_str().unwrap()).collect();
    let Some(chosen) = choose(&offers) else { return "nothing is offered\n".to_owned() };
    let line = changed_line(&at.text, &applied(&at.text, &[chosen["textEdit"].clone()]));
    format!("{line}\n  of {}\n", labels.join(", "))
}

async fn fixed(client: &mut Client, opened: &Opened) -> String {
    let diagnostics = client.published(&opened.uri).await["diagnostics"].clone();
    let Some(first) = diagnostics.as_array().unwrap().iter().find(|found| found["code"] == "unknown-key") else {
        return format!("no finding: {diagnostics}\n");
    };
    let document = json!({ "uri": opened.uri });
    let context = json!({ "diagnostics": [first], "only": ["quickfix"] });
    let params = json!({ "textDocument": document, "range": first["range"], "context": context });
    let actions = client.request("textDocument/codeAction", params).await.unwrap();
    let action = &actions[0];
    let edits = action["edit"]["changes"][&opened.uri].as_array().cloned().unwrap_or_default();
    let line = changed_line(&opened.text, &applied(&opened.text, &edits));
    format!("{}\n  {line}\n", action["title"].as_str().unwrap_or("no action"))
}

async fn session(folder: &Path) -> String {
    let root = tempfile::tempdir().unwrap();
    let mut client = Client::start(json!({}), root.path()).await;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut said = String::new();
    for stem in ["key", "value", "hover", "fix"] {
        let file = files.iter().find(|file| file.file_stem().is_some_and(|name| name == stem));
        let file = file.unwrap_or_else(|| panic!("{} has no {stem}.*", folder.display()));
        let opened = open(&mut client, root.path(), file).await;
        let answer = match stem {
            "key" => completed(&mut client, &opened, |offers| offers.first().cloned()).await,
            "value" => completed(&mut client, &opened, |offers| offers.last().cloned()).await,
            "hover" => {
                let hover = client.hover(&opened.uri, opened.line, opened.character).await;
                let lines = hover.lines().filter(|line| line.starts_with("**") || line.starts_with("Effective"));
                lines.map(|line| format!("{line}\n")).collect()
            }
            _ => fixed(&mut client, &opened).await,
        };
        let _ = write!(said, "{stem}: {answer}");
    }
    assert_eq!(client.end().await, 0);
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_carrier_is_completed_hovered_and_fixed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/carriers");
    let mut carriers: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    carriers.sort();
    let mut wrong = Vec::new();
    for carrier in carriers {
        let said = session(&carrier).await;
        let expected = carrier.join("expected.txt");
        if std::env::var_os("SPARKLS_BLESS").is_some() {
            std::fs::write(&expected, &said).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            wrong.push(format!("{}:\n{said}", carrier.display()));
        }
    }
    assert!(wrong.is_empty(), "not as expected:\n{}", wrong.join("\n"));
}
