// What the extension makes of a report's HTML before it shows it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { page } from '../../../editors/vscode/src/page.ts';

const HEAD = `<head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"></head>`;

test('a place in code is a link that opens it', () => {
  const shown = page(`<html>${HEAD}<body><p>join of orders.py:42, stage 8</p></body></html>`, '/jobs/a&b');
  const [, link, text] = /join of <a class="place" href="command:sparkls.openPlace\?([^"]+)">([^<]+)<\/a>, stage 8/.exec(shown);
  assert.deepEqual(JSON.parse(decodeURIComponent(link)), ['/jobs/a&b', 'orders.py', 42]);
  assert.equal(text, 'orders.py:42');
});

test('what is no place, or is one in a drawing, a title or a link, stays as it is', () => {
  for (const text of ['spark.sql.shuffle.partitions: 200', 'lib.py', '<svg><text>orders.py:42</text></svg>', '<a href="#x">orders.py:42</a>', '<b title="orders.py:42"></b>']) {
    assert.ok(page(`${HEAD}<body>${text}</body>`, '/jobs').includes(`<body>${text}</body>`), text);
  }
});

test('a page without the strict policy is not shown', () => {
  assert.throws(() => page('<head></head><script>alert(1)</script>', '/jobs'), /does not show/);
  assert.throws(() => page(HEAD.replace("default-src 'none'", 'default-src *'), '/jobs'), /does not show/);
});
