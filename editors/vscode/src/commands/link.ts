// Linking the event log of a run to a project, and taking it away again.

import { ConfigurationTarget, Uri, window, workspace, type QuickPickItem } from 'vscode';

import { LINK_RUN, UNLINK_RUN, type LinkedRun } from '../protocol';
import { activeProject } from '../projects';
import { SECTION } from '../settings';
import { chooseRun } from './choose';
import type { Parts } from './index';

/** Names that Spark gives to event logs, and folders where people keep them. */
const LOGS = '**/{app-*,application_*,local-*,eventlog_v2_*,spark-application-*}';
const MAX_FOUND = 50;

interface Offer extends QuickPickItem {
  readonly path: () => Promise<string | undefined> | string;
}

export async function linkEventLog({ server }: Parts): Promise<void> {
  const project = activeProject(await server.status());
  if (project === undefined) {
    throw new Error('A run is linked to a folder. Open the folder of the job first.');
  }
  const linked = new Set(project.runs.map((run) => run.source));
  const found = (await workspace.findFiles(LOGS, undefined, MAX_FOUND)).filter((uri) => !linked.has(uri.fsPath));
  const offers: Offer[] = [
    ...found.map((uri): Offer => ({ label: workspace.asRelativePath(uri), path: () => uri.fsPath })),
    { label: '$(file) Choose a file…', description: 'an event log, compressed or not', path: () => choose(false) },
    { label: '$(folder) Choose a folder…', description: 'a rolled event log (eventlog_v2_…)', path: () => choose(true) },
  ];
  const offer = await window.showQuickPick(offers, { placeHolder: 'Event log of a run of these jobs' });
  const path = await offer?.path();
  if (path !== undefined) {
    const run = await server.execute<LinkedRun>(LINK_RUN, path);
    void keep(project.runs, run);
  }
}

async function choose(folders: boolean): Promise<string | undefined> {
  const chosen = await window.showOpenDialog({
    canSelectFiles: !folders,
    canSelectFolders: folders,
    openLabel: 'Link',
    title: 'Event log of a run',
    ...(workspace.workspaceFolders?.[0] === undefined ? {} : { defaultUri: workspace.workspaceFolders[0].uri }),
  });
  return chosen?.[0]?.fsPath;
}

/** A linked run is forgotten with the window, unless the settings name it. */
async function keep(before: readonly LinkedRun[], run: LinkedRun): Promise<void> {
  const remember = 'Keep in workspace settings';
  const answer = await window.showInformationMessage(`Linked ${run.label} for this session.`, remember);
  if (answer === remember) {
    const runs = [run, ...before].map(({ source }) => (source.includes('://') ? source : relative(source)));
    await workspace.getConfiguration(SECTION).update('runs', [...new Set(runs)], ConfigurationTarget.Workspace);
  }
}

/** A path below a folder of the workspace as one from there. */
function relative(source: string): string {
  return workspace.asRelativePath(Uri.file(source), false);
}

export async function unlinkEventLog({ server }: Parts): Promise<void> {
  const run = await chooseRun(activeProject(await server.status()), 'Run to take away');
  if (run !== undefined) {
    await server.execute<boolean>(UNLINK_RUN, run.source);
  }
}
