// The types of everything that a server may send, by method: what `validate.mjs` makes schemas of.
import * as lsp from 'vscode-languageserver-protocol'

type Token = lsp.ProgressToken
type Report = lsp.WorkDoneProgressBegin | lsp.WorkDoneProgressReport | lsp.WorkDoneProgressEnd

export interface Results {
  'initialize': lsp.InitializeResult
  'shutdown': null
  'codeAction/resolve': lsp.CodeAction
  'codeLens/resolve': lsp.CodeLens
  'completionItem/resolve': lsp.CompletionItem
  'inlayHint/resolve': lsp.InlayHint
  'textDocument/codeAction': Array<lsp.Command | lsp.CodeAction> | null
  'textDocument/codeLens': lsp.CodeLens[] | null
  'textDocument/completion': lsp.CompletionItem[] | lsp.CompletionList | null
  'textDocument/definition': lsp.Definition | lsp.LocationLink[] | null
  'textDocument/diagnostic': lsp.DocumentDiagnosticReport
  'textDocument/documentHighlight': lsp.DocumentHighlight[] | null
  'textDocument/documentSymbol': lsp.DocumentSymbol[] | lsp.SymbolInformation[] | null
  'textDocument/hover': lsp.Hover | null
  'textDocument/inlayHint': lsp.InlayHint[] | null
  'textDocument/references': lsp.Location[] | null
  'workspace/executeCommand': unknown
}

export interface Requests {
  'client/registerCapability': lsp.RegistrationParams
  'client/unregisterCapability': lsp.UnregistrationParams
  'window/showMessageRequest': lsp.ShowMessageRequestParams
  'window/workDoneProgress/create': lsp.WorkDoneProgressCreateParams
  'workspace/applyEdit': lsp.ApplyWorkspaceEditParams
  'workspace/configuration': lsp.ConfigurationParams
}

export interface Notifications {
  '$/progress': { token: Token, value: Report }
  '$/logTrace': lsp.LogTraceParams
  'telemetry/event': lsp.LSPAny
  'textDocument/publishDiagnostics': lsp.PublishDiagnosticsParams
  'window/logMessage': lsp.LogMessageParams
  'window/showMessage': lsp.ShowMessageParams
}

export interface Failure {
  code: number
  message: string
  data?: unknown
}

export interface Types { results: Results, requests: Requests, notifications: Notifications, failure: Failure }
