// "Compare with previous run".

import { window } from 'vscode';

import { runSparkls } from '../cli';
import { activeProject } from '../projects';
import type { LinkedRun, ProjectStatus } from '../protocol';
import { chooseRun } from './choose';
import type { Parts } from './index';

/** Slower and inconclusive are answers, too. */
const GOOD = [1, 3];

export async function compareRuns({ server, documents }: Parts): Promise<void> {
  const project = activeProject(await server.status());
  const run = await chooseRun(project, 'Run to compare with the one before it');
  if (project === undefined || run === undefined) {
    return;
  }
  const base = previous(project, run)?.source ?? (await chooseLog(run));
  if (base === undefined) {
    return;
  }
  const args = ['compare', base, run.source, '--format', 'md'];
  const text = await runSparkls(server, `Comparing ${run.label} with the run before it`, args, project.root, GOOD);
  if (text !== undefined) {
    await documents.showMarkdown(`comparison of ${run.label}.md`, text);
  }
}

/** The next older run of the same application; runs are listed newest first. */
function previous(project: ProjectStatus, run: LinkedRun): LinkedRun | undefined {
  const older = project.runs.slice(project.runs.indexOf(run) + 1);
  return older.find(({ application }) => application === run.application);
}

async function chooseLog(run: LinkedRun): Promise<string | undefined> {
  const chosen = await window.showOpenDialog({ openLabel: 'Compare', title: `Event log to compare ${run.label} with` });
  return chosen?.[0]?.fsPath;
}
