// "Open run report".

import { runSparkls } from '../cli';
import { activeProject } from '../projects';
import { showReport } from '../report';
import { chooseRun } from './choose';
import type { Parts } from './index';

/** Code that can't be read is left out of the links; the report is there all the same. */
const GOOD = [2];

export async function openReport({ server }: Parts): Promise<void> {
  const project = activeProject(await server.status());
  const run = await chooseRun(project, 'Run to report on');
  if (project === undefined || run === undefined) {
    return;
  }
  const args = ['report', run.source, '--format', 'html', '--code', project.root];
  const html = await runSparkls(server, `Report on ${run.label}`, args, project.root, GOOD);
  if (html !== undefined) {
    showReport(`${run.application ?? run.label} · report`, html, project.root);
  }
}
