// Pictures of the extension for its page and its walkthrough, light and dark.
//   usage: node pictures.mjs TOOLS VSIX WORKSPACE OUT

import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Editor, until } from './editor.mjs';

const [tools, vsix, example, out] = process.argv.slice(2).map((path) => resolve(path));
const THEMES = { light: 'Default Light Modern', dark: 'Default Dark Modern' };
const WIDTH = 1000;
/** A picture is as high as what it shows. */
const HEIGHTS = { job: 480, finding: 620, link: 420, report: 620 };
/** Long enough for what fades in. */
const SETTLED_MS = 800;

const LAYOUT = {
  'workbench.activityBar.location': 'hidden',
  'workbench.editor.editorActionsLocation': 'default',
  'breadcrumbs.enabled': false,
  'editor.fontSize': 13,
  'editor.stickyScroll.enabled': false,
  'editor.scrollBeyondLastLine': false,
  'editor.scrollbar.horizontal': 'hidden',
  'editor.guides.indentation': false,
  'editor.renderLineHighlight': 'none',
  'editor.occurrencesHighlight': 'off',
  'editor.matchBrackets': 'never',
};

/** What is shown; each answers with what has to be in the picture. */
const scenes = {
  async job({ editor, page }) {
    await editor.openFile('spark-defaults.conf');
    await page.locator('.squiggly-warning').first().waitFor();
    await editor.goTo(24, 30);
    return editor.hover('Did you mean');
  },

  async finding({ editor, page }) {
    await editor.openFile('nightly_orders.py');
    await editor.goTo(75);
    await editor.goTo(57, 18);
    await page.getByText('max 11 x median').first().waitFor();
    return editor.hover('48 tasks');
  },

  async link({ editor, folder, page }) {
    mkdirSync(join(folder, 'archive'), { recursive: true });
    for (const log of ['app-20261128001244-0000.zstd', 'app-20261129001252-0000.zstd']) {
      cpSync(join(folder, 'runs', 'app-20261130001252-0000.zstd'), join(folder, 'archive', log));
    }
    await editor.goTo(1);
    await editor.command('sparkls: Link Event Log…');
    const found = page.locator('.quick-input-list .monaco-list-row', { hasText: 'archive/' }).first();
    await found.waitFor();
    return found;
  },

  async report({ editor, page }) {
    await page.keyboard.press('Escape');
    await editor.command('sparkls: Open Run Report');
    await editor.webview().getByText('Where the time went').waitFor();
    await editor.command('Notifications: Clear All Notifications');
    return editor.webview().getByText('Where the time went');
  },
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const [theme, name] of Object.entries(THEMES)) {
  const home = mkdtempSync(join(tmpdir(), 'sparkls-pictures-'));
  const folder = join(home, 'nightly-orders');
  cpSync(example, folder, { recursive: true });
  const editor = await Editor.open({ tools, vsix, home, folder, viewport: { width: WIDTH, height: HEIGHTS.job }, settings: { ...LAYOUT, 'workbench.colorTheme': name } });
  try {
    await editor.page.keyboard.press('Control+b');
    for (const [picture, scene] of Object.entries(scenes)) {
      await editor.page.setViewportSize({ width: WIDTH, height: HEIGHTS[picture] });
      await until(`${picture} is shown`, async () => {
        const shown = await scene({ editor, folder, page: editor.page });
        await sleep(SETTLED_MS);
        return shown.isVisible();
      });
      await editor.page.screenshot({ path: join(out, `${picture}-${theme}.png`) });
      await editor.page.keyboard.press('Escape');
    }
  } catch (error) {
    await editor.page.screenshot({ path: join(out, 'failed.png') });
    throw error;
  } finally {
    await editor.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  }
}
