// What the extension and the server know of themselves: as a document, and as a text for an issue.

import { homedir } from 'node:os';

import { env, version, window, workspace } from 'vscode';

import { why } from '../binary';
import type { ProjectStatus, ServerStatus } from '../protocol';
import { chosen } from '../settings';
import type { Parts } from './index';

export async function showStatus(parts: Parts): Promise<void> {
  await parts.documents.show('sparkls status.md', await describe(parts));
}

export async function copyReport(parts: Parts): Promise<void> {
  const log = parts.logs.lastLines();
  const lines = log.length === 0 ? ['Nothing.'] : ['```text', ...log, '```'];
  const text = [await describe(parts), '## Last lines of the server', '', ...lines, ''].join('\n');
  await env.clipboard.writeText(text.replaceAll(homedir(), '~'));
  void window.showInformationMessage('Copied. It names files and settings of this workspace: read it before you send it.');
}

async function describe(parts: Parts): Promise<string> {
  const status = await parts.server.status();
  const lines = [
    '# sparkls', '', ...versions(parts), ...(status === undefined ? [] : session(status)), '',
    '## Settings of the editor', '', ...json(chosen(parts.context)), '',
    ...(status === undefined ? [] : [...status.projects.flatMap(project), ...documents(status)]),
  ];
  return lines.join('\n');
}

function versions({ context, server }: Parts): string[] {
  const own = (context.extension.packageJSON as { version: string }).version;
  const binary = server.binary;
  return [
    `- Extension: ${own}`,
    `- Editor: ${env.appName} ${version} on ${process.platform} ${process.arch}`,
    binary === undefined ? '- Server: none was found' : `- Server: ${binary.version}, ${binary.path} (${why(binary.origin)})`,
    `- State: ${server.health}`,
    `- Workspace: ${workspace.isTrusted ? 'trusted' : 'not trusted'}`,
  ];
}

function session(status: ServerStatus): string[] {
  return [
    `- Positions: ${status.encoding}, diagnostics: ${status.diagnostics}`,
    `- Last failure inside: ${status.lastPanic ?? 'none'}`,
  ];
}

function documents({ documents }: ServerStatus): string[] {
  const lines = documents.map(({ uri, kind, version, bytes, analysed }) => {
    return `- ${uri} (${kind}, version ${version}, ${bytes} bytes${analysed ? '' : ', not analysed'})`;
  });
  return ['## Documents', '', ...(lines.length === 0 ? ['None.'] : lines), ''];
}

function project(project: ProjectStatus): string[] {
  const runs = project.runs.map((run) => `- Linked run: ${run.label}${run.application === null ? '' : `, ${run.application}`} (${run.source})`);
  return [
    `## Project ${project.root}`,
    '',
    `- Spark ${project.sparkVersion} (${project.sparkVersionFrom}), ${project.vendor}${project.local ? ', local' : ''}`,
    `- Settings file of Spark: ${project.defaults ?? 'none'}; files that hold settings or start jobs: ${project.sources}`,
    ...(runs.length === 0 ? ['- No run is linked'] : runs),
    ...project.problems.map((problem) => `- Problem: ${problem}`),
    `- Rules set: ${Object.keys(project.rules).length === 0 ? 'none' : JSON.stringify(project.rules)}`,
    `- Left out: ${project.exclude.length === 0 ? 'nothing' : project.exclude.join(', ')}`,
    '',
  ];
}

function json(value: Record<string, unknown>): string[] {
  return Object.keys(value).length === 0 ? ['None is set.'] : ['```json', JSON.stringify(value, null, 2), '```'];
}
