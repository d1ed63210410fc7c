// Which sparkls binary is started, and why. Knows nothing of the editor, so that it can be tested alone.

import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';

const VERSION_TIMEOUT_MS = 10_000;

export type Origin = 'setting' | 'bundled' | 'PATH';

/** A binary that answered `--version`. */
export interface Binary {
  readonly path: string;
  readonly origin: Origin;
  readonly version: string;
}

/** A place where a binary was looked for, and what was wrong with it. */
export interface Attempt {
  readonly path: string;
  readonly origin: Origin;
  readonly problem: string;
}

export type Search = { readonly found: Binary } | { readonly attempts: readonly Attempt[] };

/** What decides where to look. */
export interface Surroundings {
  /** The workspace may name programs to start. */
  readonly trusted: boolean;
  /** The value of `sparkls.path`; empty if it is not set. */
  readonly setting: string;
  /** The folder of the extension. */
  readonly extension: string;
  /** The folder that `${workspaceFolder}` stands for. */
  readonly folder: string | undefined;
  /** The value of the environment's PATH. */
  readonly searchPath: string;
  readonly windows: boolean;
}

interface Candidate {
  readonly path: string;
  readonly origin: Origin;
}

/** Where a binary may be, best first. A binary that the user named is the only one: another would be a surprise. */
export function candidates(around: Surroundings): readonly Candidate[] {
  const name = around.windows ? 'sparkls.exe' : 'sparkls';
  const bundled: Candidate = { path: path.join(around.extension, 'bin', name), origin: 'bundled' };
  if (!around.trusted) {
    return [bundled];
  }
  if (around.setting !== '') {
    return [{ path: resolve(around.setting, around.folder), origin: 'setting' }];
  }
  // A relative folder on the PATH would be one of the workspace.
  const folders = around.searchPath.split(around.windows ? ';' : ':').filter((folder) => path.isAbsolute(folder));
  return [bundled, ...folders.map((folder): Candidate => ({ path: path.join(folder, name), origin: 'PATH' }))];
}

/** `~` and `${workspaceFolder}` spelt out; a relative path is one of the workspace folder. */
function resolve(setting: string, folder: string | undefined): string {
  const spelt = setting.replace(/^~(?=[\\/])/, () => homedir()).replaceAll('${workspaceFolder}', () => folder ?? '.');
  return path.resolve(folder ?? '.', spelt);
}

/** The first candidate that is there, and answers `--version` as sparkls does. */
export async function find(around: Surroundings): Promise<Search> {
  const attempts: Attempt[] = [];
  for (const candidate of candidates(around)) {
    const answer = await versionOf(candidate.path);
    if ('version' in answer) {
      return { found: { ...candidate, version: answer.version } };
    }
    attempts.push({ ...candidate, problem: answer.problem });
  }
  return { attempts };
}

async function versionOf(binary: string): Promise<{ version: string } | { problem: string }> {
  try {
    await access(binary, constants.X_OK);
  } catch (error) {
    return { problem: code(error) === 'ENOENT' ? 'not there' : `can't be executed (${code(error)})` };
  }
  try {
    const { stdout } = await promisify(execFile)(binary, ['--version'], { timeout: VERSION_TIMEOUT_MS });
    const version = /^sparkls (\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
    const [line = ''] = stdout.trim().split('\n');
    return version === undefined ? { problem: `its --version says "${line.slice(0, 80)}", which is not sparkls` } : { version };
  } catch (error) {
    return { problem: `doesn't run: ${error instanceof Error ? error.message.trim() : String(error)}` };
  }
}

function code(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

const WHY: Record<Origin, string> = {
  setting: 'named by sparkls.path',
  bundled: 'bundled with the extension',
  PATH: 'the first on the PATH',
};

/** Where a binary comes from, in words. */
export function why(origin: Origin): string {
  return WHY[origin];
}

/** What was tried, for the log: places on the PATH without a binary in one line. */
export function describe(attempts: readonly Attempt[]): string[] {
  const missing = attempts.filter((attempt) => attempt.origin === 'PATH' && attempt.problem === 'not there');
  const others = attempts.filter((attempt) => !missing.includes(attempt));
  const lines = others.map((attempt) => `${attempt.path} (${why(attempt.origin)}): ${attempt.problem}`);
  return missing.length === 0 ? lines : [...lines, `no sparkls in the ${missing.length} folders of the PATH`];
}
