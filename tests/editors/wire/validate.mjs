// Holds every message that servers sent, as tap.py wrote them down, against the protocol.
//   usage: node validate.mjs FOLDER...        Exits with 1 and names each message that is not as the protocol says.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { session } from './protocol.mjs'

let failed = 0
const total = new Map()
const folders = process.argv.slice(2)
for (const folder of folders) {
  for (const file of readdirSync(folder).filter(name => name.endsWith('.jsonl'))) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line))
    const { problems, seen } = session(lines)
    for (const text of problems) console.log(`FAIL ${folder}/${file}: ${text}`)
    failed += problems.length
    for (const [name, number] of seen) total.set(name, (total.get(name) ?? 0) + number)
  }
}
const messages = [...total.values()].reduce((sum, number) => sum + number, 0)
for (const [name, number] of [...total].sort()) console.log(`${String(number).padStart(6)}  ${name}`)
console.log(`${messages} messages of the server, ${total.size} kinds`)
// Of nothing, everything is true.
if (messages === 0) failed++
console.log(`${messages - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
