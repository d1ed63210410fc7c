// What the protocol allows a server to say, by schemas made from the official types.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Ajv from 'ajv'
import { createGenerator } from 'ts-json-schema-generator'

const here = dirname(fileURLToPath(import.meta.url))
// Requests of the server that have no parameters.
const BARE = new Set(['refresh'])
// What is ours alone: any JSON, by JSON-RPC's rules.
const OWN = /^sparkls\//

const schema = createGenerator({ path: join(here, 'messages.ts'), tsconfig: join(here, 'tsconfig.json'), type: 'Types', additionalProperties: false })
  .createSchema('Types')
// The generator knows no number but `number`; positions and versions are whole, and positions are not negative.
const whole = { type: 'integer', minimum: 0, maximum: 2147483647 }
schema.definitions.Position.properties.line = whole
schema.definitions.Position.properties.character = whole
const ajv = new Ajv({ strict: false, allErrors: false, schemas: [{ ...schema, $id: 'protocol' }] })

const compiled = new Map()
function problem (group, method, value) {
  const key = method === undefined ? group : `${group} ${method}`
  if (!compiled.has(key)) {
    const name = { results: 'Results', requests: 'Requests', notifications: 'Notifications', failure: 'Failure' }[group]
    const known = method === undefined || schema.definitions[name].properties[method] !== undefined
    const escaped = method?.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('$', '%24')
    const ref = method === undefined ? `protocol#/definitions/${name}` : `protocol#/definitions/${name}/properties/${escaped}`
    compiled.set(key, known ? ajv.compile({ $ref: ref }) : null)
  }
  const check = compiled.get(key)
  if (check === null) return `${method} is not among ${group}`
  return check(value) ? undefined : ajv.errorsText(check.errors, { dataVar: key })
}

// What is wrong in a session as tap.py wrote it down, and how many messages of each kind the server sent.
export function session (lines) {
  const asked = new Map()
  const owed = new Set()
  const problems = []
  const seen = new Map()
  let exited = false
  const count = name => seen.set(name, (seen.get(name) ?? 0) + 1)
  const complain = (text, message) => { if (text !== undefined) problems.push(`${text}\n    ${JSON.stringify(message).slice(0, 300)}`) }
  for (const { from, message } of lines) {
    if (message.jsonrpc !== '2.0') complain('no jsonrpc 2.0', message)
    if (from === 'client') {
      if (message.method === 'exit' || message.method === 'shutdown') exited = true
      if (message.method !== undefined && message.id !== undefined) {
        asked.set(message.id, message.method)
        owed.add(message.id)
      }
      continue
    }
    const allowed = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
    for (const name of Object.keys(message)) if (!allowed.has(name)) complain(`a member ${name}`, message)
    if (message.method !== undefined) {
      const { method, params } = message
      count(method)
      if (OWN.test(method)) continue
      if (message.id === undefined) complain(problem('notifications', method, params), message)
      else if (BARE.has(method.split('/').at(-1))) complain(params == null ? undefined : `${method} has parameters`, message)
      else complain(problem('requests', method, params), message)
      continue
    }
    const method = asked.get(message.id)
    if (!owed.delete(message.id)) complain('answers what was not asked, or twice', message)
    if (('result' in message) === ('error' in message)) complain('neither a result nor an error, or both', message)
    if ('error' in message) {
      count('(errors)')
      complain(problem('failure', undefined, message.error), message)
    } else if (method !== undefined) {
      count(method)
      if (!OWN.test(method)) complain(problem('results', method, message.result), message)
    }
  }
  // A server that was told to go owes nothing any more.
  if (!exited) for (const id of owed) problems.push(`no answer to ${asked.get(id)} (${id})`)
  return { problems, seen }
}
