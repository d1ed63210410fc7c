// The same binary as a command, for what the server does not answer.

import { execFile } from 'node:child_process';

import { ProgressLocation, window } from 'vscode';

import type { Server } from './client';

const MAX_OUTPUT_BYTES = 64 << 20;

/** Runs `sparkls` in a folder, with progress that can be cancelled; `undefined` if it was. */
export async function runSparkls(
  server: Server,
  title: string,
  args: readonly string[],
  folder: string,
  good: readonly number[],
): Promise<string | undefined> {
  const binary = server.binary;
  if (binary === undefined) {
    throw new Error('No sparkls binary was found.');
  }
  return window.withProgress({ location: ProgressLocation.Notification, title, cancellable: true }, (_, token) => {
    return new Promise((resolve, reject) => {
      const options = { cwd: folder, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true };
      const child = execFile(binary.path, args, options, (error, stdout, stderr) => {
        if (token.isCancellationRequested) {
          resolve(undefined);
        } else if (error !== null && !good.includes(Number(error.code))) {
          reject(new Error(stderr.trim() === '' ? error.message : stderr.trim()));
        } else {
          resolve(stdout);
        }
      });
      token.onCancellationRequested(() => child.kill());
    });
  });
}
