// A check that finds nothing is worth nothing: sessions with one mistake each.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { session } from './protocol.mjs'

const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 4 } }
const publication = diagnostic => ({
  from: 'server',
  message: { jsonrpc: '2.0', method: 'textDocument/publishDiagnostics', params: { uri: 'file:///a', diagnostics: [{ range, message: 'x', ...diagnostic }] } }
})
const hover = { from: 'client', message: { jsonrpc: '2.0', id: 1, method: 'textDocument/hover', params: {} } }
const answer = more => ({ from: 'server', message: { jsonrpc: '2.0', id: 1, ...more } })

test('what is right passes', () => {
  const lines = [publication({ severity: 2 }), hover, answer({ result: { contents: { kind: 'markdown', value: 'x' } } })]
  assert.deepEqual(session(lines).problems, [])
})

for (const [mistake, lines, words] of [
  ['a severity that is none', [publication({ severity: 9 })], 'severity'],
  ['a member too many', [publication({ bogus: 1 })], 'additional properties'],
  ['a negative line', [publication({ range: { ...range, start: { line: -1, character: 0 } } })], 'line'],
  ['half a column', [publication({ range: { ...range, start: { line: 1, character: 0.5 } } })], 'character'],
  ['no end', [publication({ range: { start: range.start } })], 'required'],
  ['a kind of text that is none', [hover, answer({ result: { contents: { kind: 'html', value: 'x' } } })], 'contents'],
  ['an unknown method', [{ from: 'server', message: { jsonrpc: '2.0', method: 'window/dance', params: {} } }], 'window/dance'],
  ['an answer to nothing', [answer({ result: null })], 'not asked'],
  ['two answers', [hover, answer({ result: null }), answer({ result: null })], 'twice'],
  ['no answer', [hover, publication({})], 'no answer'],
  ['a result and an error', [hover, answer({ result: null, error: { code: 1, message: 'x' } })], 'both']
]) {
  test(mistake, () => {
    const { problems } = session(lines)
    assert.equal(problems.length, 1, problems.join('\n'))
    assert.ok(problems[0].includes(words), problems[0])
  })
}
