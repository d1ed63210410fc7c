// What the language status shows: the server's health, and the run that is linked to the file's project.

import { LanguageStatusSeverity, commands, languages, window, type Disposable, type LanguageStatusItem } from 'vscode';

import type { Health, Server } from './client';
import { activeProject } from './projects';
import type { ProjectStatus, ServerStatus } from './protocol';
import { SELECTOR } from './selector';

interface Shown {
  readonly text: string;
  readonly detail: string;
  readonly severity: LanguageStatusSeverity;
  readonly command: { readonly title: string; readonly command: string };
}

export class StatusItems implements Disposable {
  private readonly health = item('sparkls.health', 'sparkls');
  private readonly run = item('sparkls.run', 'sparkls: linked run');
  private readonly listeners: Disposable[];
  private asked = 0;

  constructor(private readonly server: Server) {
    const update = (): void => void this.update();
    this.listeners = [
      server.onDidChange(update),
      window.onDidChangeActiveTextEditor(update),
      window.onDidChangeActiveNotebookEditor(update),
    ];
    update();
  }

  dispose(): void {
    this.listeners.forEach((listener) => void listener.dispose());
    this.health.dispose();
    this.run.dispose();
  }

  private async update(): Promise<void> {
    const turn = ++this.asked;
    const status = await this.server.status();
    if (turn !== this.asked) {
      return;
    }
    const project = activeProject(status);
    show(this.health, health(this.server.health, status, project));
    this.health.busy = this.server.health === 'starting' || status?.ready === false;
    show(this.run, run(project));
    await commands.executeCommand('setContext', 'sparkls.running', this.server.health === 'running');
    await commands.executeCommand('setContext', 'sparkls.linked', (project?.runs.length ?? 0) > 0);
  }
}

function item(id: string, name: string): LanguageStatusItem {
  const created = languages.createLanguageStatusItem(id, SELECTOR);
  created.name = name;
  return created;
}

function show(item: LanguageStatusItem, shown: Shown): void {
  item.text = shown.text;
  item.detail = shown.detail;
  item.severity = shown.severity;
  item.command = shown.command;
}

function health(health: Health, status: ServerStatus | undefined, project: ProjectStatus | undefined): Shown {
  const { Information, Warning, Error } = LanguageStatusSeverity;
  const details = { title: 'Status', command: 'sparkls.showStatus' };
  const start = { title: 'Start', command: 'sparkls.start' };
  switch (health) {
    case 'starting':
      return { text: 'sparkls', detail: 'starting', severity: Information, command: details };
    case 'stopped':
      return { text: 'sparkls is stopped', detail: '', severity: Warning, command: start };
    case 'failed':
      return { text: 'sparkls does not run', detail: '', severity: Error, command: { title: 'Logs', command: 'sparkls.showClientLogs' } };
    case 'running':
      break;
  }
  const text = `sparkls ${status?.version ?? ''}`.trim();
  if (status !== undefined && status.lastPanic !== null) {
    return { text, detail: 'failed inside on one file', severity: Warning, command: { title: 'Copy report', command: 'sparkls.copyReport' } };
  }
  const problem = project?.problems[0];
  if (problem !== undefined) {
    return { text, detail: problem, severity: Warning, command: details };
  }
  const spark = project === undefined ? '' : `Spark ${project.sparkVersion}`;
  return { text, detail: spark, severity: Information, command: details };
}

function run(project: ProjectStatus | undefined): Shown {
  const severity = LanguageStatusSeverity.Information;
  const newest = project?.runs[0];
  if (newest === undefined) {
    const command = { title: 'Link event log…', command: 'sparkls.linkEventLog' };
    return { text: 'No run linked', detail: '', severity, command };
  }
  const others = (project?.runs.length ?? 1) - 1;
  const detail = [newest.application ?? '', others > 0 ? `and ${others} more` : ''].filter((part) => part !== '').join(', ');
  return { text: newest.label, detail, severity, command: { title: 'Report', command: 'sparkls.openReport' } };
}
