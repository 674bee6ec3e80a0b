// SPDX-License-Identifier: BSD-3-Clause
// guard.mjs - a database behind BF.GUARD: reads and writes, with node-redis.
//
// run.sh starts it with the port of a server of its own, which this ends. Prints a line for
// each step and fails on a wrong answer. The database is a stand-in that counts questions.
// The documentation shows the parts between [name] and [/name].
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

const { createClient } = createRequire(process.cwd() + '/build/deps/node-redis/')('redis')

// No queue: without a server a question fails at once and goes to the database.
const cache = createClient({
  socket: { host: '127.0.0.1', port: Number(process.argv[2]) },
  disableOfflineQueue: true,
  commandOptions: { timeout: 5000 }
})
cache.on('error', () => {})
await cache.connect()

const database = {
  rows: new Map(Array.from({ length: 5000 }, (_, id) => [String(id), `row ${id}`])),
  asked: 0,
  async find (id) { this.asked++; return this.rows.get(id) ?? null },
  async commit (id, row) { this.rows.set(id, row) }
}

// Lets `room` questions through at a time; the others wait. Counts them for the steps below.
const limiter = {
  room: 20, waiting: [], passed: 0,
  async run (question) {
    while (this.room === 0) await new Promise(resolve => this.waiting.push(resolve))
    this.room--
    this.passed++
    try { return await question() } finally { this.room++; this.waiting.shift()?.() }
  }
}

// [read]
async function read (id) {
  let [word, value] = ['unknown', null]
  try { // after any failure the word is still 'unknown'
    [word, value] = await cache.sendCommand(['BF.GUARD', 'users', `user:${id}`, id])
  } catch {}
  if (word === 'hit') return value === '-' ? null : value
  if (word === 'absent') return null // the database is not asked
  const row = word === 'maybe'
    ? await database.find(id)
    : await limiter.run(() => database.find(id)) // as many at once as the database can bear
  await cache.set(`user:${id}`, row ?? '-', { NX: true, EX: row === null ? 3 : 60 }).catch(() => {})
  return row
}
// [/read]

// [write]
async function write (id, row) {
  // If this fails, don't commit. NOCREATE: a lost filter is an error.
  await cache.bf.insert('users', [id], { NOCREATE: true })
  await database.commit(id, row)
  try {
    await cache.bf.insert('users', [id], { NOCREATE: true })
    await cache.set(`user:${id}`, row, { EX: 60 })
  } catch (error) { // committed, and no reader is refused
    console.error(`after the commit of ${id}: ${error.message}`)
  }
}
// [/write]

async function rebuild (...sizes) {
  const step = (...words) => cache.sendCommand(['BF.REBUILD', 'users', ...words])
  const token = await step('START', ...sizes)
  await sleep(100)
  const ids = [...database.rows.keys()]
  for (let i = 0; i < ids.length; i += 1000) {
    await step('LOAD', token, 'AT', String(i), ...ids.slice(i, i + 1000))
  }
  const found = await step('CHECK', token, ...ids.slice(0, 1000))
  if (!found.every(Boolean)) throw new Error('a row is missing')
  await step('COMMIT', token, String(ids.length))
}

function expect (what, got, wanted) {
  const ok = got === wanted
  console.log(`  ${ok ? 'ok ' : 'NOT'} ${what}: ${got}`)
  if (!ok) { console.error(`wanted ${wanted}`); process.exit(1) }
}

async function expectRead (what, id, wanted, asked, limited) {
  const before = [database.asked, limiter.passed]
  expect(what, await read(id), wanted)
  expect('    questions to the database', database.asked - before[0], asked)
  expect('    through the limiter', limiter.passed - before[1], limited)
}

await expectRead('no filter: the database is asked, through the limiter', '7', 'row 7', 1, 1)
await cache.flushAll()
expect('a write without a filter is refused', await write('9001', 'nobody').catch(e => e.message), 'ERR not found')
expect('... and not committed', database.rows.has('9001'), false)

// With so small an error rate no step below meets a false "maybe".
await rebuild('CAPACITY', '10000', 'ERROR', '0.0000001')
await expectRead('a row: the database is asked', '7', 'row 7', 1, 0)
await expectRead('... once', '7', 'row 7', 0, 0)
await expectRead('no such row: the database is not asked', 'nobody', null, 0, 0)

await write('9001', 'new')
await expectRead('a row that was just written', '9001', 'new', 0, 0)
await cache.del('user:9001')
await expectRead('... and is no longer cached', '9001', 'new', 1, 0)

database.rows.delete('7')
await cache.del('user:7')
await expectRead('a row that was deleted: the filter still knows it', '7', null, 1, 0)
await expectRead('... and the cache knows better, for 3 s', '7', null, 0, 0)
await write('7', 'back')
await expectRead('a writer\'s value replaces the sentinel', '7', 'back', 0, 0)

await cache.sendCommand(['BF.LOADING', 'users'])
await expectRead('after BF.LOADING nothing is absent', 'nobody', null, 1, 1)
await rebuild()
await expectRead('... until the next rebuild', 'nobody at all', null, 0, 0)

await cache.sendCommand(['SHUTDOWN', 'NOSAVE']).catch(() => {})
await expectRead('without a server the database is asked', '8', 'row 8', 1, 1)
cache.destroy()
