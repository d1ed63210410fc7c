// The extension in a real VS Code, from a file's opening to its saving.
//   usage: node e2e.mjs TOOLS EXAMPLE SPARKLS BUNDLED UNIVERSAL     the last two: packages with SPARKLS inside and without

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { Editor } from './editor.mjs';
import { scenes } from './scenes.mjs';
import { scenes as withoutServer } from './without_server.mjs';

const [tools, example, sparkls, bundled, universal] = process.argv.slice(2).map((path) => resolve(path));
const failures = join(tools, '..', 'failures');
rmSync(failures, { recursive: true, force: true });
mkdirSync(failures, { recursive: true });

const seconds = (since) => ((Date.now() - since) / 1000).toFixed(1);

/** Plays scenes in an editor of their own; the number of those that passed. */
async function play(scenes, options) {
  const home = mkdtempSync(join(tmpdir(), 'sparkls-vscode-'));
  const folder = join(home, 'nightly-orders');
  cpSync(example, folder, { recursive: true });
  cpSync(join(import.meta.dirname, 'workspace'), folder, { recursive: true });
  let editor;
  let passed = 0;
  try {
    editor = await Editor.open({ tools, home, folder, ...options });
    const read = (path) => readFileSync(join(folder, path), 'utf8');
    for (const [name, scene] of Object.entries(scenes)) {
      const start = Date.now();
      await scene({ editor, folder, page: editor.page, read, sparkls }).catch((error) => {
        throw new Error(name, { cause: error });
      });
      passed += 1;
      console.log(`ok   ${name} [${seconds(start)} s]`);
    }
  } catch (error) {
    const picture = join(failures, `${options.name}.png`);
    console.error(`FAILED ${error.message}\n${error.cause ?? error.stack}`);
    await editor?.page?.screenshot({ path: picture }).catch(() => undefined);
    console.error(`what was on the screen: ${picture}\n--- code-server\n${(editor?.log ?? '').slice(-3000)}`);
    process.exitCode = 1;
  } finally {
    await editor?.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
  return passed;
}

const begin = Date.now();
const all = Object.keys(scenes).length + Object.keys(withoutServer).length;
let passed = await play(scenes, { name: 'bundled', vsix: bundled });
passed += await play(withoutServer, { name: 'universal', vsix: universal, trusted: false });
console.log(`${passed} of ${all} passed in ${seconds(begin)} s`);
