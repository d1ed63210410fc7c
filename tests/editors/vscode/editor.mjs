// A real VS Code with the extension: code-server on loopback, and a Chromium that shows it.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Nothing on screen but what is tested, and no traffic. */
const SETTINGS = {
  'chat.disableAIFeatures': true,
  'editor.accessibilitySupport': 'off',
  'editor.hover.delay': 150,
  'editor.inlayHints.enabled': 'on',
  'editor.minimap.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.menuBarVisibility': 'hidden',
  'window.commandCenter': false,
  'workbench.enableExperiments': false,
  'workbench.layoutControl.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

const BROWSER = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const PATIENCE_MS = 60_000;
/** After this long a key may have been lost, and is pressed again. */
const TRY_MS = 5_000;

export class Editor {
  /** Installs the extension into a profile below `home`, starts the editor in `folder`, and waits until it can be used. */
  static async open({ tools, vsix, home, folder, settings = {}, trusted = true, viewport = { width: 1280, height: 800 } }) {
    const editor = new Editor();
    editor.home = home;
    editor.folder = folder;
    write(join(home, 'data', 'User'), { ...SETTINGS, 'security.workspace.trust.enabled': !trusted, ...settings });
    const entry = join(tools, 'node_modules', 'code-server', 'out', 'node', 'entry.js');
    const profile = ['--user-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions'), '--config', join(home, 'config.yaml')];
    const environment = { ...process.env, HOME: home, LANG: 'C.UTF-8' };
    const installed = spawnSync(process.execPath, [entry, ...profile, '--install-extension', vsix], { env: environment, encoding: 'utf8' });
    if (installed.status !== 0 || !installed.stdout.includes('successfully installed')) {
      throw new Error(`${vsix} can't be installed\n${installed.stdout}${installed.stderr}`);
    }
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const options = ['--auth', 'none', '--bind-addr', address, '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
    options.push(...(trusted ? ['--disable-workspace-trust'] : []));
    editor.server = spawn(process.execPath, [entry, ...profile, ...options, folder], { env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    editor.log = '';
    for (const stream of [editor.server.stdout, editor.server.stderr]) {
      stream.on('data', (data) => (editor.log += data));
    }
    await until('code-server answers', async () => (await fetch(`http://${address}/healthz`).catch(() => undefined))?.ok);
    const { chromium } = createRequire(join(tools, 'package.json'))('playwright-core');
    editor.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: BROWSER });
    const context = await editor.browser.newContext({ viewport });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: `http://${address}` });
    editor.page = await context.newPage();
    editor.page.setDefaultTimeout(PATIENCE_MS);
    await editor.page.goto(`http://${address}/?folder=${encodeURIComponent(folder)}`);
    await editor.page.waitForSelector('.monaco-workbench');
    await editor.page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
    return editor;
  }

  /** Changes the settings of the workspace while the editor runs. */
  set(settings) {
    write(join(this.folder, '.vscode'), settings);
  }

  /** Opens a file of the workspace by its name. */
  async openFile(name) {
    await this.pick('Control+p', name);
    await this.page.locator('.tab.active', { hasText: name }).waitFor();
  }

  /** Runs a command by its title. */
  async command(title) {
    await this.pick('F1', `>${title}`);
  }

  /** Types into the list that a key opens, until its first line is what was typed, and takes that. */
  async pick(key, text) {
    const { page } = this;
    const input = page.locator('.quick-input-widget input[type="text"]');
    const first = page.locator('.quick-input-list .monaco-list-row').first();
    await until(`${text} is offered`, async () => {
      await page.keyboard.press('Escape');
      await page.keyboard.press(key);
      await input.fill(text, { timeout: TRY_MS });
      await first.filter({ hasText: text.replace(/^>/, '') }).waitFor({ timeout: TRY_MS });
      return true;
    });
    await page.keyboard.press('Enter');
  }

  /** The active code editor. */
  get text() {
    return this.page.locator('.editor-group-container.active .editor-instance .monaco-editor').first();
  }

  /** Puts the cursor on a line. */
  async goTo(line, column = 1) {
    const { page } = this;
    await until(`the cursor is on line ${line}`, async () => {
      await page.keyboard.press('Control+g');
      await page.locator('.quick-input-widget input[type="text"]').fill(`:${line}:${column}`, { timeout: TRY_MS });
      await page.keyboard.press('Enter');
      await page.locator('.statusbar-item', { hasText: `Ln ${line}, Col ${column}` }).first().waitFor({ timeout: TRY_MS });
      return true;
    });
  }

  /** The hover at the cursor, once it says `text`. */
  async hover(text) {
    const { page } = this;
    const hover = page.locator('.monaco-hover:visible', { hasText: text }).first();
    await until(`the hover says "${text}"`, async () => {
      await page.keyboard.press('Control+k');
      await page.keyboard.press('Control+i');
      await hover.waitFor({ timeout: TRY_MS });
      return true;
    });
    return hover;
  }

  /** Applies the code action of this title at the cursor, which `place` puts where it belongs. */
  async act(title, place = async () => undefined) {
    const { page } = this;
    const action = page.locator('.action-widget .monaco-list-row', { hasText: title }).first();
    await until(`"${title}" is offered`, async () => {
      await page.keyboard.press('Escape');
      await place();
      await page.keyboard.press('Control+.');
      await action.waitFor({ timeout: TRY_MS });
      return true;
    });
    await action.click();
  }

  /** The content of the page that an extension shows. */
  webview(extension = 'sparkls.sparkls') {
    return this.page.frameLocator(`iframe.webview.ready[src*="extensionId=${extension}"]`).frameLocator('iframe#active-frame');
  }

  async close() {
    await this.browser?.close();
    // Server, extension host and language server are one group.
    const signal = (name) => {
      try {
        return process.kill(-this.server.pid, name);
      } catch {
        return false;
      }
    };
    signal('SIGTERM');
    for (let i = 0; i < 50 && signal(0); i++) {
      await sleep(100);
    }
    signal('SIGKILL');
  }
}

/** Tries something until it is true; what it throws meanwhile is the reason if it never is. */
export async function until(what, attempt, patience = PATIENCE_MS) {
  const end = Date.now() + patience;
  let reason = 'it never was';
  while (Date.now() < end) {
    try {
      const result = await attempt();
      if (result) {
        return result;
      }
    } catch (error) {
      reason = String(error).split('\n')[0];
    }
    await sleep(100);
  }
  throw new Error(`waited in vain until ${what}: ${reason}`);
}

function write(folder, settings) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings, null, 2));
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
