// Texts that are shown and belong to no file.

import { EventEmitter, Uri, commands, window, workspace, type Disposable, type TextDocumentContentProvider } from 'vscode';

const SCHEME = 'sparkls';

export class Documents implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changes = new EventEmitter<Uri>();
  private readonly registration = workspace.registerTextDocumentContentProvider(SCHEME, this);
  private readonly closing = workspace.onDidCloseTextDocument((document) => this.texts.delete(document.uri.toString()));

  readonly onDidChange = this.changes.event;

  provideTextDocumentContent(uri: Uri): string | undefined {
    return this.texts.get(uri.toString());
  }

  /** Shows a text as a document of this name. */
  async show(name: string, text: string): Promise<void> {
    const document = await workspace.openTextDocument(this.put(name, text));
    await window.showTextDocument(document, { preview: true });
  }

  /** Shows Markdown as a page; as text, where nothing shows pages. */
  async showMarkdown(name: string, text: string): Promise<void> {
    try {
      await commands.executeCommand('markdown.showPreview', this.put(name, text));
    } catch {
      await this.show(name, text);
    }
  }

  dispose(): void {
    this.closing.dispose();
    this.registration.dispose();
    this.changes.dispose();
  }

  private put(name: string, text: string): Uri {
    const uri = Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.texts.set(uri.toString(), text);
    this.changes.fire(uri);
    return uri;
  }
}
