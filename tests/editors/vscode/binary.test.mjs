// Which binary is started, and what is said if there is none.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { candidates, describe, find } from '../../../editors/vscode/src/binary.ts';

const around = { trusted: true, setting: '', extension: '/ext', folder: '/jobs', searchPath: '/usr/bin:tools:/opt/bin', windows: false };
const paths = (changes) => candidates({ ...around, ...changes }).map(({ path }) => path);

test('the bundled binary comes before those on the PATH, of which relative folders are none', () => {
  assert.deepEqual(paths({}), ['/ext/bin/sparkls', '/usr/bin/sparkls', '/opt/bin/sparkls']);
});

test('a binary that the user names is the only one', () => {
  assert.deepEqual(paths({ setting: '/own/sparkls' }), ['/own/sparkls']);
  assert.deepEqual(paths({ setting: '${workspaceFolder}/target/sparkls' }), ['/jobs/target/sparkls']);
  assert.deepEqual(paths({ setting: 'target/sparkls' }), ['/jobs/target/sparkls']);
  assert.deepEqual(paths({ setting: '~/bin/sparkls' }), [join(homedir(), 'bin/sparkls')]);
});

test('without trust only the bundled binary counts', () => {
  assert.deepEqual(paths({ trusted: false, setting: '/own/sparkls' }), ['/ext/bin/sparkls']);
});

const folder = mkdtempSync(join(tmpdir(), 'sparkls-binary-'));
after(() => rmSync(folder, { recursive: true }));

function program(name, script) {
  mkdirSync(join(folder, name));
  const path = join(folder, name, 'sparkls');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('a binary has to say that it is sparkls', async () => {
  const good = program('good', 'echo "sparkls 1.2.3"');
  const other = program('other', 'echo "another 1.0"');
  const broken = program('broken', 'echo "no such library" >&2; exit 3');
  const searchPath = ['missing', 'broken', 'other', 'good'].map((name) => join(folder, name)).join(':');
  const search = await find({ ...around, extension: folder, searchPath });
  assert.deepEqual(search, { found: { path: good, origin: 'PATH', version: '1.2.3' } });

  const failed = await find({ ...around, extension: folder, searchPath: searchPath.replace(/:[^:]*$/, '') });
  const said = describe(failed.attempts);
  assert.equal(said.length, 4, said.join('\n'));
  assert.equal(said[0], `${join(folder, 'bin/sparkls')} (bundled with the extension): not there`);
  assert.match(said[1], new RegExp(`^${broken} .*doesn't run: .*no such library`, 's'));
  assert.equal(said[2], `${other} (the first on the PATH): its --version says "another 1.0", which is not sparkls`);
  assert.equal(said[3], 'no sparkls in the 1 folders of the PATH');
});

test('a file that may not be executed is named', async () => {
  const path = join(folder, 'plain');
  writeFileSync(path, '');
  const { attempts } = await find({ ...around, setting: path });
  assert.deepEqual(attempts, [{ path, origin: 'setting', problem: "can't be executed (EACCES)" }]);
});
