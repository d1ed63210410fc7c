// Makes a package of the extension: with a binary for one platform, or without one for all of them.
//   usage: npm run package -- [--target linux-x64 --binary FILE] [--out FOLDER]

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { bundle } from './bundle.mjs';

const TARGETS = ['linux-x64', 'linux-arm64', 'alpine-x64', 'alpine-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];

function fail(message) {
  console.error(message);
  process.exit(2);
}

// What packs extensions needs it; Debian 12 has 18.
const NODE = 22;
if (Number.parseInt(process.versions.node, 10) < NODE) {
  fail(`Node ${NODE} or newer makes the package; this is ${process.version}`);
}

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { target: { type: 'string' }, binary: { type: 'string' }, out: { type: 'string', default: root } },
});
const { target, binary } = values;

if ((target === undefined) !== (binary === undefined)) {
  fail('--target and --binary belong together: a package for one platform holds the binary of that platform');
}
if (binary !== undefined && !existsSync(resolve(process.env.INIT_CWD ?? '.', binary))) {
  fail(`${binary} is not there; \`cargo build --release\` makes target/release/sparkls`);
}
if (target !== undefined && !TARGETS.includes(target)) {
  fail(`--target is one of ${TARGETS.join(', ')}`);
}

const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const bin = join(root, 'bin');
rmSync(bin, { recursive: true, force: true });
if (target !== undefined) {
  const name = join(bin, target.startsWith('win32') ? 'sparkls.exe' : 'sparkls');
  mkdirSync(bin);
  copyFileSync(resolve(process.env.INIT_CWD ?? '.', binary), name);
  chmodSync(name, 0o755);
}

const run = (name, ...args) => execFileSync(process.execPath, [join(root, 'node_modules', name), ...args], { cwd: root, stdio: 'inherit' });
const out = join(resolve(process.env.INIT_CWD ?? '.', values.out), `sparkls-${target ?? 'universal'}-${version}.vsix`);
try {
  await bundle();
  const platform = target === undefined ? [] : ['--target', target];
  // Pictures of the README are shown from the repository, if there is one.
  const links = repository === undefined ? ['--allow-missing-repository', '--no-rewrite-relative-links'] : [];
  run('@vscode/vsce/vsce', 'package', ...platform, '--no-dependencies', ...links, '--out', out);
} finally {
  rmSync(bin, { recursive: true, force: true });
}
