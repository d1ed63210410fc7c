// Every command of the extension, by name.

import { commands, window, type Disposable, type ExtensionContext } from 'vscode';

import type { Server } from '../client';
import type { Documents } from '../documents';
import type { Logs } from '../logs';
import { copyReport, showStatus } from './about';
import { compareRuns } from './compare';
import { linkEventLog, unlinkEventLog } from './link';
import { openReport } from './report';
import { openPlace } from './place';

/** What commands work with. */
export interface Parts {
  readonly context: ExtensionContext;
  readonly server: Server;
  readonly logs: Logs;
  readonly documents: Documents;
}

/** Registers all commands. What fails is told as one sentence. */
export function register(parts: Parts): Disposable[] {
  const { server, logs } = parts;
  const all: Record<string, (...args: unknown[]) => unknown> = {
    'sparkls.start': () => server.start(),
    'sparkls.stop': () => server.stop(),
    'sparkls.restart': () => server.restart(),
    'sparkls.showClientLogs': () => logs.client.show(),
    'sparkls.showServerLogs': () => logs.server.show(),
    'sparkls.showStatus': () => showStatus(parts),
    'sparkls.copyReport': () => copyReport(parts),
    'sparkls.linkEventLog': () => linkEventLog(parts),
    'sparkls.unlinkEventLog': () => unlinkEventLog(parts),
    'sparkls.openReport': () => openReport(parts),
    'sparkls.compareRuns': () => compareRuns(parts),
    'sparkls.openPlace': openPlace,
  };
  return Object.entries(all).map(([name, command]) =>
    commands.registerCommand(name, async (...args: unknown[]) => {
      try {
        return await command(...args);
      } catch (error) {
        logs.client.error(`${name}: ${String(error)}`);
        void window.showErrorMessage(error instanceof Error ? error.message : String(error));
        return undefined;
      }
    }),
  );
}
