// Opening a place in code that a report names.

import * as path from 'node:path';

import { Position, Range, Uri, window, workspace } from 'vscode';

/** Opens `file` of the folder `root` at a line and column, both from 1. */
export async function openPlace(root: unknown, file: unknown, line: unknown, column: unknown): Promise<void> {
  if (typeof root !== 'string' || typeof file !== 'string' || typeof line !== 'number' || typeof column !== 'number') {
    throw new TypeError('a place is a folder, a file, a line and a column');
  }
  const uri = Uri.file(path.resolve(root, file));
  const position = new Position(Math.max(line - 1, 0), Math.max(column - 1, 0));
  if (file.endsWith('.ipynb')) {
    await window.showNotebookDocument(await workspace.openNotebookDocument(uri));
  } else {
    await window.showTextDocument(uri, { selection: new Range(position, position) });
  }
}
