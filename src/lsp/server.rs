//! The handlers: each changes the session before its first wait, or takes a snapshot in it, and hands the work on.

use std::sync::Arc;

use serde_json::Value;
use tower_lsp_server::jsonrpc::Result;
use tower_lsp_server::ls_types::*;
use tower_lsp_server::{ClientSocket, LanguageServer, LspService};

use super::capabilities::{self, Features};
use super::configuration::Editor;
use super::session::Session;
use super::{
    actions, adoption, commands, completion, diagnostics, hints, hover, lenses, places, process, projects, publish,
    status, symbols, watch,
};
use crate::workspace::Kind;

/// The service, and the way back to the client.
pub(super) fn service() -> (LspService<Backend>, ClientSocket) {
    LspService::build(|client| Backend { session: Arc::new(Session::new(client)) })
        .custom_method("sparkls/status", Backend::status)
        .custom_method("$/setTrace", Backend::set_trace)
        .finish()
}

/// Answers one editor.
pub(super) struct Backend {
    session: Arc<Session>,
}

impl Backend {
    async fn status(&self) -> Result<Value> {
        Ok(status::of(&self.session))
    }

    /// Tracing goes to standard error and is chosen at the start; the notification is accepted and changes nothing.
    async fn set_trace(&self, _: Value) {}
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let features = Features::of(&params.capabilities);
        let editor = params.initialization_options.as_ref().map(Editor::read).unwrap_or_default();
        let capabilities = capabilities::offer(&features);
        self.session.greet(features, editor, projects::folders(&params));
        if let Some(pid) = params.process_id {
            process::end_with(pid);
        }
        Ok(InitializeResult {
            capabilities,
            server_info: Some(ServerInfo {
                name: "sparkls".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..InitializeResult::default()
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        projects::begin(&self.session);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let uri = params.text_document.uri.clone();
        self.session.open(params.text_document);
        self.text_changed(&uri);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let uri = params.text_document.uri.clone();
        if self.session.change(params) {
            self.text_changed(&uri);
        }
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        watch::saved(&self.session, &params.text_document.uri);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let Some(closed) = self.session.close(&params.text_document.uri) else { return };
        publish::clear(&self.session, &closed);
        if closed.project.is_defaults(&closed.path) {
            projects::reload_soon(&self.session);
        } else if closed.kind != Kind::Other {
            adoption::changed(&self.session, [closed.path.clone()]);
        }
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        projects::configuration_changed(&self.session, params.settings);
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        projects::folders_changed(&self.session, params.event);
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        watch::changed(&self.session, &params.changes);
    }

    async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReportResult> {
        let snapshot = self.session.snapshot(&params.text_document.uri);
        diagnostics::pull(Arc::clone(&self.session), snapshot, params).await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let place = params.text_document_position_params;
        let Some(snapshot) = self.session.snapshot(&place.text_document.uri) else { return Ok(None) };
        hover::answer(&self.session, snapshot, place.position).await
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let place = params.text_document_position_params;
        let Some(snapshot) = self.session.snapshot(&place.text_document.uri) else { return Ok(None) };
        places::definition(&self.session, snapshot, place.position).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let place = params.text_document_position;
        let Some(snapshot) = self.session.snapshot(&place.text_document.uri) else { return Ok(None) };
        places::references(&self.session, snapshot, place.position).await
    }

    async fn document_highlight(&self, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
        let place = params.text_document_position_params;
        let Some(snapshot) = self.session.snapshot(&place.text_document.uri) else { return Ok(None) };
        places::highlights(&self.session, snapshot, place.position).await
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let place = params.text_document_position;
        let Some(snapshot) = self.session.snapshot(&place.text_document.uri) else { return Ok(None) };
        completion::answer(&self.session, snapshot, place.position).await
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        Ok(completion::resolve(&self.session, item))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let Some(snapshot) = self.session.snapshot(&params.text_document.uri) else { return Ok(None) };
        actions::answer(&self.session, snapshot, params).await
    }

    async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        actions::resolve(&self.session, action).await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let Some(snapshot) = self.session.snapshot(&params.text_document.uri) else { return Ok(None) };
        hints::answer(&self.session, snapshot, params.range).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let Some(snapshot) = self.session.snapshot(&params.text_document.uri) else { return Ok(None) };
        lenses::answer(&self.session, snapshot).await
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        let Some(snapshot) = self.session.snapshot(&params.text_document.uri) else { return Ok(None) };
        symbols::answer(&self.session, snapshot).await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        commands::execute(&self.session, params).await
    }
}

impl Backend {
    /// A document's text is another: its diagnostics, and what depends on it elsewhere.
    fn text_changed(&self, uri: &Uri) {
        publish::schedule(&self.session, uri);
        if let Some(snapshot) = self.session.snapshot(uri) {
            adoption::edited(&self.session, &snapshot);
        }
    }
}
