// SPDX-License-Identifier: BSD-3-Clause
// shield.mjs - an application with the helper for Node, whose filter `bulwark fill` fills.
//
// PROGRAM=/path/bulwark, and the port of a server of its own, which this ends. Prints a line
// for each step and fails on a wrong answer. The database is a stand-in that counts
// questions. The documentation shows the parts between [name] and [/name].
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { Busy, NotCommitted, Shield } from '../../module/client/node/bulwark.mjs'

const { createClient } = createRequire(process.cwd() + '/build/deps/node-redis/')('redis')
const port = process.argv[2]
const url = `redis://127.0.0.1:${port}`
const patient = { timeout: 30000, writeTimeout: 30000 } // no step depends on the machine's speed

const database = {
  rows: new Map(Array.from({ length: 5000 }, (_, id) => [BigInt(id), `row ${id}`])),
  asked: 0,
  async find (id) { this.asked++; return this.rows.get(id) },
  // Ids are the database's choice. Nobody sees the row before the commit.
  async begin () {
    const id = BigInt(this.rows.size + 1000)
    let kept
    return {
      insert: async row => { kept = row; return id },
      commit: async () => { this.rows.set(id, kept) },
      rollback: async () => {}
    }
  }
}

class TryAgain extends Error {} // 503, and not 404
const alarm = () => process.exit(1)

// [read]
const client = await createClient({ url }).on('error', error => console.error(error.message)).connect()
const shield = new Shield(client, 'users', 'user', { item: BigInt, limit: 50, sample: 0.001, onWrong: alarm })

async function findUser (id) {
  try {
    return await shield.read(id, id => database.find(id))
  } catch (error) { // Busy: the database has enough to do, which is not "there is none"
    throw error instanceof Busy ? new TryAgain() : error
  }
}
// [/read]

// [write]
async function register (row) {
  const transaction = await database.begin()
  const id = await transaction.insert(row) // INSERT ... RETURNING id
  try {
    await shield.write(id, async () => { await transaction.commit(); return row })
  } catch (error) { // NotCommitted: Redis is away, or has lost the filter
    await transaction.rollback()
    throw error instanceof NotCommitted ? new TryAgain() : error
  }
  return id
}
// [/write]

// What cron runs every night, with --pg or --from FILE. So small an error rate that no step
// meets a false maybe.
function fill () {
  execFileSync(process.env.PROGRAM, ['fill', 'users', '-p', port, '--from', '-', '--settle', '0',
    '--error', '0.0000001', '--capacity', '10000', '--expect', '8'],
  { input: [...database.rows.keys()].join('\n'), stdio: ['pipe', 'ignore', 'inherit'] })
}

function expect (what, got, wanted) {
  const ok = got === wanted
  console.log(`  ${ok ? 'ok ' : 'NOT'} ${what}: ${got}`)
  if (!ok) { console.error(`wanted ${wanted}`); process.exit(1) }
}

const sure = new Shield(client, 'users', 'user', { item: BigInt, ...patient })
async function expectRead (what, id, wanted, asked) {
  const before = database.asked
  expect(what, await sure.read(id, id => database.find(id)), wanted)
  expect('    questions to the database', database.asked - before, asked)
}

await expectRead('no filter: the database is asked', '7', 'row 7', 1)
await client.flushAll()
expect('a write without a filter is refused', await register('nobody').catch(e => e.constructor), TryAgain)
expect('... and not committed', database.rows.size, 5000)
fill()
await expectRead('a row: the database is asked', '7', 'row 7', 1)
await expectRead('... once', '007', 'row 7', 0)
expect('... as the application does it', await findUser('7'), 'row 7')
await expectRead('no such row: the database is not asked', 8888, null, 0)

const id = await register('Anna')
await expectRead("a row that was just written, under an id of the database's", id, 'Anna', 0)
await sure.forget(id)
await expectRead('... and is no longer cached', id, 'Anna', 1)

database.rows.delete(7n)
await sure.forget(7)
await expectRead('a row that was deleted: the filter still knows it', 7, null, 1)
fill()
await sure.forget(7)
await expectRead('... until the next night', 7, null, 0)

await client.sendCommand(['SHUTDOWN', 'NOSAVE']).catch(() => {})
await expectRead('without a server the database is asked', 8, 'row 8', 1)
client.destroy()
