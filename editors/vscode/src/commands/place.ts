// Opening a place in code that a report names.

import { Position, Range, RelativePattern, Uri, window, workspace } from 'vscode';

const MAX_FOUND = 20;

/** Opens a line, from 1, of a file below the folder `root`: reports name a file without its folders. */
export async function openPlace(root: unknown, file: unknown, line: unknown): Promise<void> {
  if (typeof root !== 'string' || typeof file !== 'string' || typeof line !== 'number') {
    throw new TypeError('a place is a folder, a file and a line');
  }
  const uri = await find(root, file);
  if (uri?.path.endsWith('.ipynb') === true) {
    await window.showNotebookDocument(await workspace.openNotebookDocument(uri));
  } else if (uri !== undefined) {
    const position = new Position(Math.max(line - 1, 0), 0);
    await window.showTextDocument(uri, { selection: new Range(position, position) });
  }
}

/** The only file of this name, or the one that the user chooses. */
async function find(root: string, file: string): Promise<Uri | undefined> {
  const found = await workspace.findFiles(new RelativePattern(Uri.file(root), `**/${file}`), undefined, MAX_FOUND);
  if (found.length === 0) {
    throw new Error(`There is no ${file} in ${root}.`);
  }
  if (found.length === 1) {
    return found[0];
  }
  const items = found.map((uri) => ({ label: workspace.asRelativePath(uri), uri }));
  return (await window.showQuickPick(items, { placeHolder: `Which ${file}?` }))?.uri;
}
