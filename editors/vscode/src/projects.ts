// Which of the workspace's projects is meant.

import * as path from 'node:path';

import { window } from 'vscode';

import type { ProjectStatus, ServerStatus } from './protocol';

/** The project of the active editor: the longest folder that holds its file; else the first. */
export function activeProject(status: ServerStatus | undefined): ProjectStatus | undefined {
  const projects = status?.projects ?? [];
  const uri = window.activeTextEditor?.document.uri ?? window.activeNotebookEditor?.notebook.uri;
  const file = uri?.scheme === 'file' || uri?.scheme === 'vscode-notebook-cell' ? uri.fsPath : undefined;
  const holding = projects.filter((project) => file?.startsWith(project.root + path.sep) === true);
  return holding.sort((a, b) => b.root.length - a.root.length)[0] ?? projects[0];
}
