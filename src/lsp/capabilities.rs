//! What the client can do, and what the server offers it.

use tower_lsp_server::ls_types::*;

use crate::text::Encoding;

use super::{actions, commands};

/// What the client can do, read once.
#[derive(Debug, Clone, Default)]
pub(super) struct Features {
    /// What columns count.
    pub(super) encoding: Encoding,
    /// The client asks for diagnostics, and asks again when it is told to; they are never pushed then. What a linked run, a
    /// settings file or another document changes would stay unseen by one that only asks when its own text changes.
    pub(super) pull: bool,
    /// Publications may name the version they are about.
    pub(super) version: bool,
    pub(super) related_information: bool,
    pub(super) tags: Vec<DiagnosticTag>,
    pub(super) code_description: bool,
    pub(super) data: bool,
    /// Edits may name the version of the document they are for.
    pub(super) document_changes: bool,
    /// The edit of a code action may be left for later.
    pub(super) resolve_edit: bool,
    pub(super) preferred: bool,
    pub(super) markdown: bool,
    pub(super) completion_markdown: bool,
    pub(super) completion_deprecated: bool,
    /// Completions may hold places to fill in.
    pub(super) snippets: bool,
    pub(super) hierarchical_symbols: bool,
    pub(super) configuration: bool,
    pub(super) register_configuration: bool,
    pub(super) register_watchers: bool,
    pub(super) refresh_hints: bool,
    pub(super) refresh_lenses: bool,
    pub(super) progress: bool,
    /// The client tells of notebooks and their cells.
    pub(super) notebooks: bool,
    /// The client shows the server's status and wants to hear when it changes.
    pub(super) status: bool,
}

impl Features {
    pub(super) fn of(client: &ClientCapabilities) -> Self {
        let workspace = client.workspace.clone().unwrap_or_default();
        let document = client.text_document.clone().unwrap_or_default();
        let publish = document.publish_diagnostics.unwrap_or_default();
        let action = document.code_action.unwrap_or_default();
        let item = document.completion.and_then(|completion| completion.completion_item).unwrap_or_default();
        let markdown = |formats: Option<Vec<MarkupKind>>| formats.is_some_and(|f| f.contains(&MarkupKind::Markdown));
        let resolve = action.resolve_support.map(|support| support.properties).unwrap_or_default();
        Self {
            encoding: encoding(client),
            pull: document.diagnostic.is_some()
                && workspace.diagnostics.and_then(|client| client.refresh_support).unwrap_or_default(),
            version: publish.version_support.unwrap_or_default(),
            related_information: publish.related_information.unwrap_or_default(),
            tags: publish.tag_support.map(|support| support.value_set).unwrap_or_default(),
            code_description: publish.code_description_support.unwrap_or_default(),
            data: publish.data_support.unwrap_or_default(),
            document_changes: workspace.workspace_edit.and_then(|edit| edit.document_changes).unwrap_or_default(),
            resolve_edit: action.data_support.unwrap_or_default() && resolve.iter().any(|name| name == "edit"),
            preferred: action.is_preferred_support.unwrap_or_default(),
            markdown: markdown(document.hover.and_then(|hover| hover.content_format)),
            completion_markdown: markdown(item.documentation_format),
            completion_deprecated: item.tag_support.is_some(),
            snippets: item.snippet_support.unwrap_or_default(),
            hierarchical_symbols: document
                .document_symbol
                .and_then(|symbol| symbol.hierarchical_document_symbol_support)
                .unwrap_or_default(),
            configuration: workspace.configuration.unwrap_or_default(),
            register_configuration: workspace
                .did_change_configuration
                .and_then(|client| client.dynamic_registration)
                .unwrap_or_default(),
            register_watchers: workspace
                .did_change_watched_files
                .and_then(|client| client.dynamic_registration)
                .unwrap_or_default(),
            refresh_hints: workspace.inlay_hint.and_then(|client| client.refresh_support).unwrap_or_default(),
            refresh_lenses: workspace.code_lens.and_then(|client| client.refresh_support).unwrap_or_default(),
            notebooks: client.notebook_document.is_some(),
            status: client
                .experimental
                .as_ref()
                .and_then(|own| own.get("sparklsStatus"))
                .and_then(serde_json::Value::as_bool)
                .unwrap_or_default(),
            progress: client.window.as_ref().and_then(|window| window.work_done_progress).unwrap_or_default(),
        }
    }
}

/// UTF-8 costs nothing here, so it is taken wherever the client offers it; UTF-16 is what every client speaks.
fn encoding(client: &ClientCapabilities) -> Encoding {
    let offered = client.general.as_ref().and_then(|general| general.position_encodings.as_deref()).unwrap_or_default();
    if offered.contains(&PositionEncodingKind::UTF8) { Encoding::Utf8 } else { Encoding::Utf16 }
}

/// What the server offers this client.
pub(super) fn offer(features: &Features) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(match features.encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        })),
        // Notebooks of every type (Jupyter's, interactive windows, those of Databricks) with all of their cells: a client
        // that leaves some out counts the others anew, and so would the numbers of cells be wrong.
        notebook_document_sync: features.notebooks.then(|| {
            let selector = NotebookSelector::ByNotebook { notebook: Notebook::String("*".to_owned()), cells: None };
            OneOf::Left(NotebookDocumentSyncOptions { notebook_selector: vec![selector], save: Some(true) })
        }),
        diagnostic_provider: features.pull.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: Some("sparkls".to_owned()),
                // spark-defaults.conf changes what holds for the jobs beside it.
                inter_file_dependencies: true,
                workspace_diagnostics: false,
                ..DiagnosticOptions::default()
            })
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "\"", "'", "=", " ", "-"].map(str::to_owned).to_vec()),
            resolve_provider: Some(true),
            ..CompletionOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(actions::kinds()),
            resolve_provider: Some(features.resolve_edit),
            ..CodeActionOptions::default()
        })),
        inlay_hint_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        document_symbol_provider: Some(OneOf::Left(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::names(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_taken_where_it_is_offered() {
        let offering = |kinds: &[&str]| {
            let general = serde_json::json!({ "general": { "positionEncodings": kinds } });
            encoding(&serde_json::from_value(general).unwrap())
        };
        assert_eq!(offering(&["utf-8", "utf-16", "utf-32"]), Encoding::Utf8);
        assert_eq!(offering(&["utf-16", "utf-8"]), Encoding::Utf8);
        assert_eq!(offering(&["utf-16"]), Encoding::Utf16);
        assert_eq!(encoding(&ClientCapabilities::default()), Encoding::Utf16);
    }
}
