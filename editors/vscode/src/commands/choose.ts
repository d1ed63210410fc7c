// Choosing one of the linked runs.

import { commands, window } from 'vscode';

import type { LinkedRun, ProjectStatus } from '../protocol';

/** The only linked run, or the one that the user chooses; offers to link one where there is none. */
export async function chooseRun(project: ProjectStatus | undefined, placeHolder: string): Promise<LinkedRun | undefined> {
  const runs = project?.runs ?? [];
  if (runs.length === 0) {
    const link = 'Link event log…';
    if ((await window.showInformationMessage('No run is linked to this project.', link)) === link) {
      await commands.executeCommand('sparkls.linkEventLog');
    }
    return undefined;
  }
  if (runs.length === 1) {
    return runs[0];
  }
  const items = runs.map((run) => ({ label: run.label, description: run.application ?? '', detail: run.source, run }));
  return (await window.showQuickPick(items, { placeHolder, matchOnDetail: true }))?.run;
}
