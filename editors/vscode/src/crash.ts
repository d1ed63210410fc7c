// One message when the server can't go on, with what helps.

import { commands, window, workspace } from 'vscode';

import { why, type Attempt } from './binary';

/** The server keeps ending. */
export async function tellOfCrash(): Promise<void> {
  const choices = { 'Open logs': 'sparkls.showServerLogs', 'Copy report': 'sparkls.copyReport', Restart: 'sparkls.restart' };
  const message = 'The sparkls server stopped and could not be kept running.';
  await offer(window.showErrorMessage.bind(window), message, choices);
}

/** No binary was found: what to do about it depends on why. */
export async function tellOfMissing(attempts: readonly Attempt[]): Promise<void> {
  const first = attempts[0];
  if (!workspace.isTrusted) {
    const message =
      'sparkls: this workspace is not trusted, so only a bundled server may be started, and this build of the extension has none.';
    return offer(window.showWarningMessage.bind(window), message, { 'Manage trust': 'workbench.trust.manage' });
  }
  if (first?.origin === 'setting') {
    const message = `sparkls.path is ${first.path}: ${first.problem}.`;
    return offer(window.showErrorMessage.bind(window), message, { 'Open setting': openPathSetting });
  }
  const broken = attempts.find((attempt) => attempt.problem !== 'not there');
  const problem =
    broken === undefined
      ? 'none is bundled with this build of the extension, and none is on the PATH'
      : `${broken.path} (${why(broken.origin)}): ${broken.problem}`;
  const message = `No sparkls server was found: ${problem}. Install the sparkls command and restart, or name one in sparkls.path.`;
  return offer(window.showErrorMessage.bind(window), message, {
    'Open setting': openPathSetting, Restart: 'sparkls.restart', 'Open logs': 'sparkls.showClientLogs',
  });
}

function openPathSetting(): Thenable<unknown> {
  return commands.executeCommand('workbench.action.openSettings', 'sparkls.path');
}

type Choice = string | (() => Thenable<unknown>);
type Show = (message: string, ...items: string[]) => Thenable<string | undefined>;

async function offer(show: Show, message: string, choices: Record<string, Choice>): Promise<void> {
  const chosen = await show(message, ...Object.keys(choices));
  const choice = chosen === undefined ? undefined : choices[chosen];
  if (typeof choice === 'string') {
    await commands.executeCommand(choice);
  } else {
    await choice?.();
  }
}
