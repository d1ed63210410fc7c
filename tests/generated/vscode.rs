//! The settings of the VS Code extension: those of `sparkls.toml`, and what only an editor can say.

use serde_json::{Map, Value, json};

use sparkls::rules;

pub(crate) const MANIFEST: &str = "editors/vscode/package.json";
const STRONGER: &str = "Stronger than the project's `sparkls.toml`.";

/// What an editor can set beside the settings of a project.
fn of_editors() -> [(&'static str, Value); 7] {
    [
        (
            "measured",
            json!({
                "description": "Where the numbers of the linked run stand in the text.",
                "type": "string",
                "enum": ["hints", "lenses", "off"],
                "enumDescriptions": ["At the ends of lines.", "Above the lines.", "Nowhere; the hover still tells."],
                "default": "hints"
            }),
        ),
        (
            "maxFileSize",
            json!({
                "description": "Larger files are not analysed, in KiB.",
                "type": "integer",
                "minimum": 1,
                "default": 8192
            }),
        ),
        (
            "docsBase",
            json!({
                "description": "Address below which each rule has a page `rules/<name>.md`. Without it, links go to pages on this machine.",
                "type": "string",
                "default": ""
            }),
        ),
        (
            "path",
            json!({
                "markdownDescription": "The sparkls binary to start; `~` and `${workspaceFolder}` are known. Without it: the one that is bundled with the extension, else the first on the `PATH`. Ignored in a workspace that is not trusted.",
                "type": "string",
                "default": "",
                "scope": "machine-overridable"
            }),
        ),
        (
            "logLevel",
            json!({
                "description": "What the server logs.",
                "type": "string",
                "enum": ["off", "error", "warn", "info", "debug", "trace"],
                "default": "warn"
            }),
        ),
        (
            "logFile",
            json!({
                "markdownDescription": "A file that the server's log goes to as well, as an absolute path. At 5 MiB it is renamed to `<name>.1` and begun anew. Ignored in a workspace that is not trusted.",
                "type": "string",
                "default": "",
                "scope": "machine-overridable"
            }),
        ),
        (
            "trace.server",
            json!({
                "description": "Whether messages between editor and server are logged with the client's.",
                "type": "string",
                "enum": ["off", "messages", "verbose"],
                "default": "off"
            }),
        ),
    ]
}

/// The manifest with its settings made from the schema of `sparkls.toml`; everything else stays.
pub(crate) fn manifest(text: &str, schema: &Value) -> String {
    let mut manifest: Value = serde_json::from_str(text).expect("the manifest is JSON");
    let properties = &mut manifest["contributes"]["configuration"]["properties"];
    *properties = Value::Object(properties_of(schema));
    format!("{manifest:#}\n")
}

fn properties_of(schema: &Value) -> Map<String, Value> {
    let of_projects = schema["properties"].as_object().expect("the schema has properties");
    let of_projects = of_projects.iter().map(|(name, property)| (camel_case(name), of_project(name, property)));
    let of_editors = of_editors().into_iter().map(|(name, property)| (name.to_owned(), property));
    of_projects
        .chain(of_editors)
        .zip(0..)
        .map(|((name, mut property), order)| {
            property["order"] = json!(order);
            (format!("sparkls.{name}"), property)
        })
        .collect()
}

/// `spark-version` as `sparkVersion`, as editors write the names of settings.
fn camel_case(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| camel + &word[..1].to_uppercase() + &word[1..])
}

/// A setting of a project as one of the editor. Only what the user chose is sent to the server, so a default that is
/// shown here never wins over the project's files.
fn of_project(name: &str, property: &Value) -> Value {
    if name == "rules" {
        return rules_property();
    }
    let mut property = property.clone();
    let fields = property.as_object_mut().expect("a property is an object");
    let description = fields.shift_remove("description").unwrap_or_default();
    let description = description.as_str().unwrap_or_default().replace("this file", "the workspace folder");
    let example = fields.shift_remove("examples").and_then(|examples| examples.get(0).cloned());
    let example = example.map(|example| format!(" Example: `{example}`.")).unwrap_or_default();
    fields.insert("markdownDescription".to_owned(), json!(format!("{description}{example} {STRONGER}")));
    if let Some(pattern) = fields.get("pattern").and_then(Value::as_str) {
        // The settings editor shows a setting that is not set as an empty one.
        fields.insert("pattern".to_owned(), json!(format!("^$|{pattern}")));
    }
    if fields["type"].is_array() {
        // The settings editor draws a list of strings for this, and nothing for "a list or a string".
        fields.insert("type".to_owned(), json!("array"));
    }
    property
}

/// Severities by rule; options, too, where a rule has them.
fn rules_property() -> Value {
    let known: Map<String, Value> =
        rules::all().map(|rule| (rule.name.to_owned(), json!({ "markdownDescription": rule.summary() }))).collect();
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    json!({
        "markdownDescription": format!("Severity and options of rules, by name. Example: `{{ \"schema-inference\": \"off\" }}`. {STRONGER}"),
        "type": "object",
        "properties": known,
        "patternProperties": {
            "^": {
                "anyOf": [
                    { "enum": ["off", "on", "hint", "information", "warning", "error"] },
                    { "type": "object" }
                ]
            }
        },
        "propertyNames": { "pattern": format!("^({}|per-path)$", names.join("|")) },
        "default": {}
    })
}

#[test]
fn settings_are_few() {
    let manifest = std::fs::read_to_string(super::root().join(MANIFEST)).expect("the manifest is there");
    let manifest: Value = serde_json::from_str(&manifest).expect("the manifest is JSON");
    let properties = manifest["contributes"]["configuration"]["properties"].as_object().expect("settings");
    assert!((10..=15).contains(&properties.len()), "{}", properties.len());
}
