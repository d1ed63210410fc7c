// The extension's start and end.

import { window, workspace, type ExtensionContext } from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';

import { Server } from './client';
import { register } from './commands';
import { tellOfCrash, tellOfMissing } from './crash';
import { Documents } from './documents';
import { Logs } from './logs';
import { SHOW_UPGRADE } from './protocol';
import { SECTION, changesBinary, chosen } from './settings';
import { StatusItems } from './status';

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const logs = new Logs();
  const documents = new Documents();
  server = new Server(context, logs, middleware(context, documents));
  const running = server;
  context.subscriptions.push(
    logs,
    documents,
    running,
    new StatusItems(running),
    ...register({ context, server: running, logs, documents }),
    running.onDidCrash(() => void tellOfCrash()),
    running.onDidMiss((attempts) => void tellOfMissing(attempts)),
    workspace.onDidChangeConfiguration((event) => changesBinary(event) && void running.restart()),
    workspace.onDidGrantWorkspaceTrust(() => void running.restart()),
  );
  await running.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function middleware(context: ExtensionContext, documents: Documents): Middleware {
  return {
    workspace: {
      // The server asks for one section; it gets what was set, not what is the default.
      configuration: async (params, token, next) => {
        const answers = await next(params, token);
        if (!Array.isArray(answers)) {
          return answers;
        }
        return params.items.map((item, index): unknown => (item.section === SECTION ? chosen(context) : answers[index]));
      },
    },
    executeCommand: async (command, args, next) => {
      const answer: unknown = await next(command, args);
      if (command === SHOW_UPGRADE) {
        if (typeof answer === 'string') {
          await documents.showMarkdown('newer Spark.md', answer);
        } else {
          void window.showInformationMessage('This project uses the newest Spark that sparkls knows, or does not say which it uses.');
        }
      }
      return answer;
    },
  };
}
