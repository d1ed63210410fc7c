// The extension in a real VS Code, from a file's opening to its saving.
//   usage: node e2e.mjs TOOLS VSIX WORKSPACE

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Editor } from './editor.mjs';
import { scenes } from './scenes.mjs';

const [tools, vsix, example] = process.argv.slice(2).map((path) => resolve(path));
const home = mkdtempSync(join(tmpdir(), 'sparkls-vscode-'));
const folder = join(home, 'nightly-orders');
cpSync(example, folder, { recursive: true });
cpSync(join(import.meta.dirname, 'workspace'), folder, { recursive: true });

const begin = Date.now();
const failures = join(tools, '..', 'failures');
rmSync(failures, { recursive: true, force: true });
mkdirSync(failures, { recursive: true });
let editor;
let passed = 0;
try {
  editor = await Editor.open({ tools, vsix, home, folder });
  for (const [name, scene] of Object.entries(scenes)) {
    const start = Date.now();
    try {
      await scene({ editor, folder, page: editor.page, read: (path) => readFileSync(join(folder, path), 'utf8') });
    } catch (error) {
      throw new Error(name, { cause: error });
    }
    passed += 1;
    console.log(`ok   ${name} [${((Date.now() - start) / 1000).toFixed(1)} s]`);
  }
} catch (error) {
  console.error(`FAILED ${error.message}\n${error.cause ?? error.stack}`);
  await editor?.page?.screenshot({ path: join(failures, 'failed.png') }).catch(() => undefined);
  console.error(`what was on the screen: ${join(failures, 'failed.png')}\n--- code-server\n${(editor?.log ?? '').slice(-3000)}`);
  process.exitCode = 1;
} finally {
  await editor?.close();
  if (existsSync(home)) {
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
  console.log(`${passed} of ${Object.keys(scenes).length} passed in ${((Date.now() - begin) / 1000).toFixed(0)} s`);
}
