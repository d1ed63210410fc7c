// What a user does, and sees. Each scene starts where the one before it left the editor.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { until } from './editor.mjs';

const MISTYPED = 'spark.sql.adaptive.skewJoin.enable';
const JOIN_LINE = 57;

const squiggles = (page, severity = 'warning') => page.locator(`.squiggly-${severity}`);
const line = (editor, text) => editor.text.locator('.view-line', { hasText: text }).first();

/** Moves the mouse to what is underlined, until the hover says `text`. */
async function hoverOver(page, underlined, text) {
  const hover = page.locator('.monaco-hover:visible', { hasText: text }).first();
  await until(`the hover says "${text}"`, async () => {
    await page.mouse.move(0, 0);
    const { x, y, width, height } = await underlined.boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2, { steps: 5 });
    await hover.waitFor({ timeout: 5000 });
    return true;
  });
  await page.keyboard.press('Escape');
}

/** The processes of the bundled server of this editor; one that only tells its version is none. */
function servers(editor) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const serves = (pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return command[0].startsWith(join(editor.home, 'extensions')) && command[1] === 'server';
    } catch {
      return false;
    }
  };
  return pids.filter(serves).map(Number);
}

/** What the extension logged. */
function clientLog(editor) {
  const logs = join(editor.home, 'data', 'logs');
  const files = readdirSync(logs, { recursive: true }).filter((name) => name.endsWith('/sparkls.log'));
  return files.map((name) => readFileSync(join(logs, name), 'utf8')).join('');
}

export const scenes = {
  async 'a settings file is in colour'({ editor, page }) {
    await editor.openFile('spark-defaults.conf');
    await page.locator('.statusbar-item', { hasText: 'Spark settings' }).waitFor();
    await until('key, number and unit have colours of their own', async () => {
      const parts = line(editor, 'spark.executor.memory').locator('span span');
      return new Set(await parts.evaluateAll((spans) => spans.map((span) => getComputedStyle(span).color))).size >= 3;
    });
  },

  async 'a mistyped key is underlined, explained, corrected and saved'({ editor, page, read }) {
    const number = read('conf/spark-defaults.conf').split('\n').findIndex((text) => text.startsWith(`${MISTYPED} `)) + 1;
    await squiggles(page).first().waitFor();
    await editor.goTo(number, 30);
    await editor.hover('Did you mean');
    await page.keyboard.press('Escape');
    await editor.act(`Rename to ${MISTYPED}d`);
    await line(editor, `${MISTYPED}d`).waitFor();
    await page.keyboard.press('Control+s');
    await until('the file is saved', () => read('conf/spark-defaults.conf').includes(`${MISTYPED}d `));
    await editor.goTo(number, 30);
    await editor.hover('spark.sql.adaptive.skewJoin.enabled');
    await page.locator('.monaco-hover:visible', { hasText: 'Did you mean' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
  },

  async 'keys are completed with what they are'({ editor, page }) {
    const text = 'spark.sql.adaptive.coalescePartitions.ini';
    await editor.goTo(27);
    await page.keyboard.type(text);
    const offered = page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'initialPartitionNum' }).first();
    await until('the key is offered', async () => {
      await page.keyboard.press('Control+Space');
      await offered.waitFor({ timeout: 5000 });
      return true;
    });
    await page.keyboard.press('Enter');
    await line(editor, 'spark.sql.adaptive.coalescePartitions.initialPartitionNum').waitFor();
    await editor.command('File: Revert File');
  },

  async 'the line of the version says what a newer Spark changes'({ editor, page }) {
    await editor.openFile('sparkls.toml');
    await page.locator('.codelens-decoration a', { hasText: 'until Spark' }).click();
    await editor.webview('vscode.markdown-language-features').getByText('From Spark 3.5').waitFor();
  },

  async 'a job shows what its last run measured'({ editor, page }) {
    await editor.openFile('nightly_orders.py');
    await page.locator('.codelens-decoration', { hasText: 'app-20261130001252-0000' }).first().waitFor();
    await editor.goTo(JOIN_LINE, 18);
    await line(editor, 'scored.join').getByText('max 11 x median').waitFor();
    await editor.hover('48 tasks');
    await page.keyboard.press('Escape');
  },

  async 'a finding in a job is fixed and saved'({ editor, page, read }) {
    await editor.goTo(70, 12);
    await editor.act('Remove coalesce(1)');
    await line(editor, 'large.write.mode').waitFor();
    await page.keyboard.press('Control+s');
    await until('the file is saved', () => read('jobs/nightly_orders.py').includes('large.write.mode'));
  },

  async 'a notebook is read cell by cell, and a cell corrected and saved'({ editor, page, read }) {
    await editor.openFile('orders.ipynb');
    const cell = (text) => page.locator('.cell-editor-container', { hasText: text });
    await hoverOver(page, cell('collect').locator('[class*="squiggly-"]').first(), 'collect()');
    const key = cell('skewJoin');
    await hoverOver(page, key.locator('.squiggly-warning').first(), 'Did you mean');
    await editor.act(`Rename to ${MISTYPED}d`, async () => {
      const { x, y } = await key.locator('.squiggly-warning').first().boundingBox();
      await page.mouse.click(x + 5, y + 2);
    });
    await page.keyboard.press('Control+s');
    await until('the notebook is saved', () => read('orders.ipynb').includes(`${MISTYPED}d`));
    await key.locator('.squiggly-warning').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
  },

  async 'the report of the linked run is a page in the theme of the editor'({ editor, page }) {
    await editor.openFile('nightly_orders.py');
    await editor.command('sparkls: Open Run Report');
    await editor.webview().getByText('Where the time went').waitFor();
    const ground = await editor.webview().locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
    const theme = await page.evaluate(() => getComputedStyle(document.querySelector('.monaco-workbench')).getPropertyValue('--vscode-editor-background'));
    assert.equal(ground, rgb(theme));
    await editor.webview().getByText('nightly_orders.py:57').first().click();
    await page.locator('.tab.active', { hasText: 'nightly_orders.py' }).waitFor();
    await page.locator('.statusbar-item', { hasText: 'Ln 57,' }).waitFor();
  },

  async 'the status names the version, the settings and the run'({ editor, page }) {
    await editor.command('sparkls: Show Server Status');
    await page.locator('.tab.active', { hasText: 'sparkls status.md' }).waitFor();
    for (const text of ['Server:', 'bundled with the extension', 'Linked run: app-20261130001252-0000', 'Last failure inside: none']) {
      await editor.text.getByText(text).first().waitFor();
    }
  },

  async 'a report for an issue is copied'({ editor, page }) {
    await editor.command('sparkls: Copy Report for an Issue');
    await page.locator('.notification-toast', { hasText: 'read it before you send it' }).waitFor();
    const report = await until('the report is copied', () => page.evaluate(() => navigator.clipboard.readText()));
    assert.match(report, /^# sparkls\n/);
    assert.ok(report.includes('## Last lines of the server'), report);
    assert.ok(!report.includes(editor.home), 'the home folder has no name in it');
    await editor.command('Notifications: Clear All Notifications');
  },

  async 'the language status has the linked run'({ editor, page }) {
    await editor.openFile('nightly_orders.py');
    await page.locator('.statusbar-item[id="status.languageStatus"]').hover();
    const status = page.locator('.monaco-hover:visible, .hover-language-status');
    await status.getByText('app-20261130001252-0000').first().waitFor();
    await status.getByText('Spark 3.5.9').first().waitFor();
    await page.keyboard.press('Escape');
  },

  async 'another run is linked and compared'({ editor, folder, page }) {
    mkdirSync(join(folder, 'archive'));
    cpSync(join(folder, 'runs', 'app-20261130001252-0000.zstd'), join(folder, 'archive', 'app-20261129001252-0000.zstd'));
    await editor.command('sparkls: Link Event Log…');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'archive/app-20261129001252-0000.zstd' }).click();
    await page.locator('.notification-toast', { hasText: 'Linked app-' }).waitFor();
    await editor.command('Notifications: Clear All Notifications');
    await editor.command('sparkls: Compare with Previous Run');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'app-20261130001252-0000' }).first().click();
    await editor.webview('vscode.markdown-language-features').getByText('no change').first().waitFor();
  },

  async 'settings of the editor count at once, in the same server'({ editor, page }) {
    const before = servers(editor);
    assert.equal(before.length, 1);
    await editor.openFile('nightly_orders.py');
    await editor.goTo(JOIN_LINE);
    const hint = line(editor, 'scored.join').getByText('max 11 x median');
    await hint.waitFor();
    editor.set({ 'sparkls.measured': 'off' });
    await hint.waitFor({ state: 'detached' });
    editor.set({});
    await hint.waitFor();
    const underlined = page.locator('.squiggly-warning');
    const count = await underlined.count();
    editor.set({ 'sparkls.rules': { 'skewed-stage': 'off' } });
    await until('a finding is gone', async () => (await underlined.count()) < count);
    editor.set({});
    await until('it is back', async () => (await underlined.count()) === count);
    const log = join(editor.home, 'server.log');
    editor.set({ 'sparkls.logLevel': 'info', 'sparkls.logFile': log, 'sparkls.sparkVersion': '3.4', 'sparkls.trace.server': 'messages' });
    await until('the server logs to the file', () => readFileSync(log, 'utf8').includes('Spark 3.4'));
    await until('messages are traced', () => clientLog(editor).includes("Sending request 'textDocument/"));
    editor.set({});
    assert.deepEqual(servers(editor), before);
  },

  async 'the server is stopped, started, and another one named'({ editor, page }) {
    const hint = line(editor, 'scored.join').getByText('max 11 x median');
    await editor.command('sparkls: Stop Server');
    await until('there is no server', () => servers(editor).length === 0);
    await hint.waitFor({ state: 'detached' });
    await editor.command('sparkls: Start Server');
    await hint.waitFor();
    const [before] = servers(editor);
    await editor.command('sparkls: Restart Server');
    await until('there is another server', () => servers(editor).length === 1 && servers(editor)[0] !== before);
    editor.set({ 'sparkls.path': '/nowhere/sparkls' });
    await page.locator('.notification-toast', { hasText: 'sparkls.path is /nowhere/sparkls: not there.' }).waitFor();
    await until('there is no server', () => servers(editor).length === 0);
    editor.set({});
    await hint.waitFor();
    await editor.command('Notifications: Clear All Notifications');
  },

  async 'a server that dies is started again, and one message helps if it keeps dying'({ editor, page }) {
    for (let death = 1; death <= 4; death += 1) {
      const [pid] = await until('there is a server', () => servers(editor)[0] && servers(editor));
      await until('it serves', async () => (await line(editor, 'scored.join').getByText('max 11 x median').count()) > 0);
      process.kill(pid, 'SIGKILL');
      await until('it is gone', () => !servers(editor).includes(pid));
    }
    const message = page.locator('.notification-toast', { hasText: 'could not be kept running' });
    await message.waitFor();
    assert.deepEqual(await message.locator('.monaco-button:not(.monaco-dropdown-button)').allInnerTexts(), ['Open logs', 'Copy report', 'Restart']);
    await message.getByText('Restart', { exact: true }).click();
    await until('there is a server', () => servers(editor).length === 1);
    await editor.goTo(JOIN_LINE, 18);
    await editor.hover('48 tasks');
    await page.keyboard.press('Escape');
  },
};

/** `#1f1f1f` as a browser computes it. */
function rgb(colour) {
  const [red, green, blue] = colour.trim().match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
  return `rgb(${red}, ${green}, ${blue})`;
}
