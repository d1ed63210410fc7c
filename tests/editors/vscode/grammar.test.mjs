// How settings files are coloured, with the tokenizer of VS Code itself. TOOLS names the folder that it was installed in.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const code = createRequire(join(process.env.TOOLS, 'node_modules/code-server/lib/vscode/package.json'));
const oniguruma = code('vscode-oniguruma');
const { INITIAL, Registry, parseRawGrammar } = code('vscode-textmate');

await oniguruma.loadWASM(readFileSync(code.resolve('vscode-oniguruma/release/onig.wasm')));
const file = join(import.meta.dirname, '../../../editors/vscode/syntaxes/spark-conf.tmLanguage.json');
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: () => parseRawGrammar(readFileSync(file, 'utf8'), file),
});
const grammar = await registry.loadGrammar('source.spark-conf');

/** What each part of the text is, blanks left out. */
function parts(text) {
  let state = INITIAL;
  return text.split('\n').flatMap((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens
      .map(({ startIndex, endIndex, scopes }) => [line.slice(startIndex, endIndex), scopes.at(-1).replace('.spark-conf', '')])
      .filter(([part]) => part.trim() !== '');
  });
}

const KEY = 'variable.other.property';

test('a key, a number and its unit', () => {
  assert.deepEqual(parts('spark.executor.memory 4g'), [
    ['spark.executor.memory', KEY], ['4', 'constant.numeric'], ['g', 'keyword.other.unit'],
  ]);
});

test('a key ends at a blank, an equals sign or a colon', () => {
  for (const between of ['=', ' = ', ':', ' : ', '\t']) {
    const [key, ...rest] = parts(`spark.speculation${between}true`);
    assert.deepEqual(key, ['spark.speculation', KEY], between);
    assert.deepEqual(rest.at(-1), ['true', 'constant.language.boolean'], between);
  }
});

test('a number in a word is none', () => {
  assert.deepEqual(parts('spark.app.name run-3b').at(-1), ['run-3b', 'string.unquoted']);
  assert.deepEqual(parts('spark.driver.host 10.0.0.1').at(-1)[1], 'string.unquoted');
});

test('a comment begins a line; elsewhere its sign is part of the value', () => {
  assert.equal(parts('  # spark.speculation true').at(-1)[1], 'comment.line.number-sign');
  assert.ok(parts('spark.app.name a # b').every(([, scope]) => !scope.startsWith('comment')));
});

test('a value goes on behind a backslash', () => {
  assert.deepEqual(parts('spark.jars a.jar,\\\nspark.jar\nspark.speculation true').map(([part, scope]) => [part, scope === KEY]), [
    ['spark.jars', true], ['a.jar', false], [',', false], ['\\', false], ['spark.jar', false], ['spark.speculation', true], ['true', false],
  ]);
});

test('placeholders and flags of the JVM stand out', () => {
  assert.deepEqual(parts('spark.x ${env:HOME}').at(-1)[1], 'variable.other.readwrite.placeholder');
  assert.deepEqual(parts('spark.x {{ memory }}').at(-1)[1], 'variable.other.readwrite.placeholder');
  assert.deepEqual(parts('spark.driver.extraJavaOptions -XX:+UseG1GC').at(-1)[1], 'entity.other.attribute-name.jvm-option');
});
