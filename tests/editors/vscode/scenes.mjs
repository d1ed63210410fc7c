// What a user does, and sees. Each scene starts where the one before it left the editor.

import assert from 'node:assert/strict';

const MISTYPED = 'spark.sql.adaptive.skewJoin.enable';
const JOIN_LINE = 57;

const squiggles = (page, severity = 'warning') => page.locator(`.squiggly-${severity}`);
const line = (editor, text) => editor.text.locator('.view-line', { hasText: text }).first();

export const scenes = {
  async 'a settings file is in colour'({ editor, page }) {
    await editor.openFile('spark-defaults.conf');
    await page.locator('.statusbar-item', { hasText: 'Spark settings' }).waitFor();
    const colours = await line(editor, 'spark.executor.memory').locator('span span').evaluateAll((spans) => spans.map((span) => getComputedStyle(span).color));
    assert.ok(new Set(colours).size >= 3, `key, number and unit have colours of their own: ${colours}`);
  },

  async 'a mistyped key is underlined, explained, corrected and saved'({ editor, page, until, read }) {
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

  async 'a job shows what its last run measured'({ editor, page }) {
    await editor.openFile('nightly_orders.py');
    await page.getByText('max 11 x median').first().waitFor();
    await page.locator('.codelens-decoration').first().waitFor();
    await editor.goTo(JOIN_LINE, 18);
    await editor.hover('48 tasks');
    await page.keyboard.press('Escape');
  },

  async 'a finding in a job is fixed and saved'({ editor, page, until, read }) {
    await editor.goTo(70, 12);
    await editor.act('Remove coalesce(1)');
    await line(editor, 'large.write.mode').waitFor();
    await page.keyboard.press('Control+s');
    await until('the file is saved', () => read('jobs/nightly_orders.py').includes('large.write.mode'));
  },

  async 'a notebook is read cell by cell'({ editor, page }) {
    await editor.openFile('orders.ipynb');
    const cell = page.locator('.cell-editor-container', { hasText: 'collect' });
    await cell.locator('.squiggly-warning, .squiggly-info, .squiggly-hint').first().waitFor();
    await cell.locator('.view-line').first().click();
    await editor.hover('collect');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  },

  async 'the report of the linked run is a page in the theme of the editor'({ editor, page }) {
    await editor.openFile('nightly_orders.py');
    await editor.command('sparkls: Open Run Report');
    await editor.webview.getByText('Where the time went').waitFor();
    const ground = await editor.webview.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
    const theme = await page.evaluate(() => getComputedStyle(document.querySelector('.monaco-workbench')).getPropertyValue('--vscode-editor-background'));
    assert.equal(ground, rgb(theme));
    await editor.webview.locator('a.place').first().click();
    await page.locator('.tab.active', { hasText: 'nightly_orders.py' }).waitFor();
  },

  async 'the status names the version, the settings and the run'({ editor, page }) {
    await editor.command('sparkls: Show Server Status');
    await page.locator('.tab.active', { hasText: 'sparkls status.md' }).waitFor();
    for (const text of ['Server:', 'bundled with the extension', 'Linked run: app-20261130001252-0000', 'Last failure inside: none']) {
      await editor.text.getByText(text).first().waitFor();
    }
  },
};

/** `#1f1f1f` as a browser computes it. */
function rgb(colour) {
  const [red, green, blue] = colour.trim().match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
  return `rgb(${red}, ${green}, ${blue})`;
}
