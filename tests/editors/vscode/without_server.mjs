// The package without a server, in a workspace that is not trusted at first: what is said, and what helps.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const scenes = {
  async 'without trust nothing but a bundled server is started'({ editor, page }) {
    editor.set({ 'sparkls.path': '/bin/true' });
    await editor.openFile('nightly_orders.py');
    await page.locator('.notification-toast', { hasText: 'not trusted, so only a bundled server may be started' }).waitFor();
    await page.locator('.notification-toast').getByText('Manage trust').click();
    await page.locator('.workspace-trust-editor').waitFor();
  },

  async 'with trust the setting counts, and what is no sparkls is named'({ editor, page }) {
    await page.locator('.workspace-trust-editor').getByText('Trust', { exact: true }).first().click();
    await page.locator('.notification-toast', { hasText: 'sparkls.path is /bin/true: its --version says' }).waitFor();
  },

  async 'without any binary the message says what to do'({ editor, page }) {
    await page.keyboard.press('Escape');
    await editor.command('Notifications: Clear All Notifications');
    editor.set({});
    const message = page.locator('.notification-toast', { hasText: 'No sparkls server was found' });
    await message.waitFor();
    await message.getByText('none is on the PATH').waitFor();
    await message.getByText('Open setting').waitFor();
  },

  async 'a server that ends at once is tried once'({ editor, page }) {
    const broken = join(editor.home, 'sparkls');
    writeFileSync(broken, '#!/bin/sh\n[ "$1" = --version ] && echo "sparkls 9.9.9" && exit\necho start >>"$0.starts"\nexit 1\n', { mode: 0o755 });
    editor.set({ 'sparkls.path': broken });
    await page.locator('.notification-toast', { hasText: 'could not be kept running' }).waitFor();
    assert.equal(readFileSync(`${broken}.starts`, 'utf8'), 'start\n');
    await editor.command('Notifications: Clear All Notifications');
  },

  async 'a server that is named is started at once'({ editor, page, sparkls }) {
    editor.set({ 'sparkls.path': sparkls });
    await editor.openFile('spark-defaults.conf');
    await page.locator('.squiggly-warning').first().waitFor();
  },
};
