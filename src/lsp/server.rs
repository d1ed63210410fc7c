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

    async fn notebook_did_open(&self, params: DidOpenNotebookDocumentParams) {
        let uri = params.notebook_document.uri.clone();
        self.session.open_notebook(params);
        self.text_changed(&uri);
    }

    async fn notebook_did_change(&self, params: DidChangeNotebookDocumentParams) {
        let uri = params.notebook_document.uri.clone();
        let Some(gone) = self.session.change_notebook(params) else { return };
        publish::clear_cells(&self.session, gone);
        self.text_changed(&uri);
    }

    async fn notebook_did_save(&self, params: DidSaveNotebookDocumentParams) {
        watch::saved(&self.session, &params.notebook_document.uri);
    }

    async fn notebook_did_close(&self, params: DidCloseNotebookDocumentParams) {
        let Some(closed) = self.session.close_notebook(&params.notebook_document.uri) else { return };
        let cells = closed.cells.iter().flat_map(|cells| cells.documents.iter().map(|(uri, _)| uri.clone()));
        publish::clear_cells(&self.session, cells.collect());
        adoption::changed(&self.session, [closed.path.clone()]);
    }

    async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReportResult> {
        let view = self.session.view(&params.text_document.uri);
        diagnostics::pull(Arc::clone(&self.session), view, params).await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let place = params.text_document_position_params;
        let Some(view) = self.session.view(&place.text_document.uri) else { return Ok(None) };
        let hover = hover::answer(&self.session, view.snapshot(), view.position(place.position)).await?;
        Ok(hover.map(|hover| view.hover(hover)))
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let place = params.text_document_position_params;
        let Some(view) = self.session.view(&place.text_document.uri) else { return Ok(None) };
        let found = places::definition(&self.session, view.snapshot(), view.position(place.position)).await?;
        let found = found.map(|found| self.told(found)).filter(|found| !found.is_empty());
        Ok(found.map(GotoDefinitionResponse::Array))
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let place = params.text_document_position;
        let Some(view) = self.session.view(&place.text_document.uri) else { return Ok(None) };
        let found = places::references(&self.session, view.snapshot(), view.position(place.position)).await?;
        Ok(found.map(|found| self.told(found)))
    }

    async fn document_highlight(&self, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
        let place = params.text_document_position_params;
        let Some(view) = self.session.view(&place.text_document.uri) else { return Ok(None) };
        let found = places::highlights(&self.session, view.snapshot(), view.position(place.position)).await?;
        Ok(found.map(|found| view.each(found, |highlight| &mut highlight.range)))
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let place = params.text_document_position;
        let Some(view) = self.session.view(&place.text_document.uri) else { return Ok(None) };
        let found = completion::answer(&self.session, view.snapshot(), view.position(place.position)).await?;
        Ok(found.map(|found| view.completion(found)))
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        Ok(completion::resolve(&self.session, item))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let Some(view) = self.session.view(&params.text_document.uri) else { return Ok(None) };
        let params = CodeActionParams { range: view.range(params.range), ..params };
        let found = actions::answer(&self.session, view.snapshot(), params).await?;
        Ok(found.map(|found| view.actions(found)))
    }

    async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        actions::resolve(&self.session, action).await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let Some(view) = self.session.view(&params.text_document.uri) else { return Ok(None) };
        let found = hints::answer(&self.session, view.snapshot(), view.range(params.range)).await?;
        Ok(found.map(|found| view.hints(found)))
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let Some(view) = self.session.view(&params.text_document.uri) else { return Ok(None) };
        let found = lenses::answer(&self.session, view.snapshot()).await?;
        Ok(found.map(|found| view.each(found, |lens| &mut lens.range)).filter(|found| !found.is_empty()))
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        let Some(view) = self.session.view(&params.text_document.uri) else { return Ok(None) };
        let found = symbols::answer(&self.session, view.snapshot()).await?;
        Ok(found.map(|found| view.symbols(found)))
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        commands::execute(&self.session, params).await
    }
}

impl Backend {
    /// Places in open notebooks as places in their cells.
    fn told(&self, places: Vec<Location>) -> Vec<Location> {
        let told = |place: Location| match self.session.snapshot(&place.uri) {
            Some(snapshot) => snapshot.told(place),
            None => Some(place),
        };
        places.into_iter().filter_map(told).collect()
    }

    /// A document's text is another: its diagnostics, and what depends on it elsewhere.
    fn text_changed(&self, uri: &Uri) {
        publish::schedule(&self.session, uri);
        if let Some(snapshot) = self.session.snapshot(uri) {
            adoption::edited(&self.session, &snapshot);
        }
    }
}
