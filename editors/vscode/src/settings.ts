// The editor's settings under `sparkls.`.

import { workspace, type ConfigurationChangeEvent, type ExtensionContext } from 'vscode';

export const SECTION = 'sparkls';

/** Settings of the extension alone; the server never sees them. */
const OURS = new Set(['path', 'trace.server']);

/** The path of the binary that the user named; empty without one. */
export function binaryPath(): string {
  return workspace.getConfiguration(SECTION).get('path', '').trim();
}

/** Whether messages between editor and server are logged. */
export function isTracing(): boolean {
  return workspace.getConfiguration(SECTION).get<string>('trace.server', 'off') !== 'off';
}

/** Whether another binary has to be started now. */
export function changesBinary(event: ConfigurationChangeEvent): boolean {
  return event.affectsConfiguration(`${SECTION}.path`);
}

/**
 * What the user set for the server. A default is nobody's choice: sent along, it would win over the project's
 * sparkls.toml.
 */
export function chosen(context: ExtensionContext): Record<string, unknown> {
  const configuration = workspace.getConfiguration(SECTION);
  const settings: Record<string, unknown> = {};
  for (const name of names(context).filter((name) => !OURS.has(name))) {
    const found = configuration.inspect(name);
    const values = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue];
    if (values.some((value) => value !== undefined)) {
      settings[name] = configuration.get(name);
    }
  }
  return settings;
}

interface Manifest {
  readonly contributes: { readonly configuration: { readonly properties: Record<string, unknown> } };
}

/** The names of all settings, without the section. */
function names(context: ExtensionContext): string[] {
  const manifest = context.extension.packageJSON as Manifest;
  return Object.keys(manifest.contributes.configuration.properties).map((name) => name.slice(SECTION.length + 1));
}
