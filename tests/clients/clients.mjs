// SPDX-License-Identifier: BSD-3-Clause
// clients.mjs - the Node helper with one client library, as it is set up in many ways.
//
//     node clients.mjs node-redis | ioredis | ioredis6      (environment: see servers.py)
//
// Prints a line for each step and fails on a wrong answer. A row is bytes that are no text;
// the database is a stand-in that counts questions.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Busy, NotCommitted, Shield, partsTags } from '../../module/client/node/bulwark.mjs'

const name = process.argv[2]
const { PORT, REPLICA, SENTINEL, SOCKET, CLUSTER, CONTROL, PROGRAM } = process.env
const port = Number(PORT)
const masters = CLUSTER.split(' ').map(Number)
const host = '127.0.0.1'
const isNodeRedis = name === 'node-redis'
const load = (folder, what) => createRequire(`${process.cwd()}/build/deps/${folder}/`)(what)
const library = isNodeRedis ? load('node-redis', 'redis') : load('ioredis', name)
// Long for a busy machine; and short, for what never answers.
const patient = { timeout: 30000, writeTimeout: 30000, ttl: 3600, nothingTtl: 600 }
const quick = { timeout: 200, writeTimeout: 200 }
const log = []
let steps = 0

const row = id => Buffer.concat([Buffer.from([0xff]), Buffer.from(` row ${id}`)])

class Database {
  rows = new Map(Array.from({ length: 100 }, (_, id) => [BigInt(id), row(id)]))
  asked = 0
  find = async id => {
    this.asked++
    return this.rows.get(id)
  }

  inserting = row => async id => {
    this.rows.set(id, row)
    return row
  }
}

function expect (what, got, wanted = true) {
  steps++
  const ok = isDeepStrictEqual(got, wanted)
  console.log(`  ${ok ? 'ok ' : 'NOT'} ${what}: ${shown(got)}`)
  if (!ok) {
    console.error(`wanted ${shown(wanted)}`, log)
    process.exit(1)
  }
}

const shown = value => JSON.stringify(value, (key, one) =>
  typeof one === 'bigint' ? `${one}n` : one?.type === 'Buffer' ? Buffer.from(one.data).toString('latin1') : one)

// What a read returns, how often the database was asked, and which counters moved.
async function look (shield, database, id) {
  const [since, counts] = [database.asked, { ...shield.counts }]
  const got = await shield.read(id, database.find)
  const moved = Object.keys(counts).filter(name => shield.counts[name] > counts[name]).join(' ')
  return [got, database.asked - since, moved]
}

async function expectRead (what, shield, database, id, wanted, asked, word) {
  expect(what, await look(shield, database, id), [wanted, asked, word])
}

// Asks again until it is so: there is no saying when.
async function until (holds) {
  for (let tries = 0; tries < 3000 && !await holds().catch(() => false); tries++) await sleep(20)
}

// What an empty server says; a hit, if an answer that came too late was cached.
const any = ['unknown', 'hit']

// Reads again until one of the words comes.
async function soon (what, shield, database, id, ...words) {
  let got, moved
  await until(async () => {
    [got, , moved] = await look(shield, database, id)
    return words.includes(moved)
  })
  expect(what, [got, words.includes(moved)], [database.rows.get(BigInt(id)) ?? null, true])
}

// See servers.py.
const order = words => new Promise((resolve, reject) => {
  connect(Number(CONTROL), host).on('data', resolve).on('error', reject).end(`${words}\n`)
})

const shieldOf = (client, more = {}) => new Shield(client, 'users', 'user',
  { item: BigInt, encode: row => row, decode: bytes => bytes, log: line => log.push(line), ...patient, ...more })

async function refused (what, shield, database, id) {
  const error = await shield.write(id, database.inserting(row('never'))).catch(error => error)
  expect(`${what}: ${error.message}`, error instanceof NotCommitted)
  expect('... and nothing was committed', !row('never').equals(database.rows.get(BigInt(id)) ?? row(0)))
}

// ---- the clients, as an application may have set them up ----

const never = { maxRetriesPerRequest: null, retryStrategy: () => 50 }

async function open (settings) {
  if (isNodeRedis) {
    const { socket = { host, port }, ...rest } = settings
    const client = library.createClient({ socket: { ...socket, reconnectStrategy: 50 }, ...rest })
    client.on('error', () => {})
    return client.connect()
  }
  const client = new library(settings.path ?? { host, port, ...never, ...settings })
  client.on('error', () => {})
  await once(client, 'ready')
  return client
}

async function openCluster ({ socketTimeout, ...settings }) {
  if (isNodeRedis) {
    const client = library.createCluster({ rootNodes: masters.map(port => ({ socket: { host, port } })), ...settings })
    client.on('error', () => {})
    return client.connect()
  }
  const { protocol, keyPrefix, ...more } = settings
  const client = new library.Cluster([{ host, port: masters[0] }],
    { ...more, keyPrefix, redisOptions: { socketTimeout, ...(protocol ? { protocol } : {}) } })
  client.on('error', () => {})
  await once(client, 'ready')
  return client
}

const end = client => isNodeRedis ? client.destroy() : client.disconnect()
const prefixOf = settings => settings.keyPrefix ?? ''

// What the steps arrange themselves.
const own = await open({})
const call = (...words) => isNodeRedis ? own.sendCommand(words) : own.call(...words)

// So small an error rate that no step meets a false maybe.
async function rebuild (ids) {
  const token = await call('BF.REBUILD', 'users', 'START', 'ERROR', '0.0000001', 'CAPACITY', '10000')
  await call('BF.REBUILD', 'users', 'LOAD', token, ...ids.map(String))
  await call('BF.REBUILD', 'users', 'COMMIT', token, String(ids.length))
}

// ---- the steps ----

async function readsAndWrites (client, prefix) {
  await call('FLUSHALL')
  const [database, shield] = [new Database(), shieldOf(client)]
  await refused('a write without a filter', shield, database, 1000)
  await expectRead('no filter: the database is asked', shield, database, 7, row(7), 1, 'unknown')
  await call('FLUSHALL')
  await rebuild([...database.rows.keys()])

  await expectRead('a row: the database is asked', shield, database, '7', row(7), 1, 'maybe')
  await expectRead('... once', shield, database, '7', row(7), 0, 'hit')
  await expectRead('... however it is spelled', shield, database, '007', row(7), 0, 'hit')
  expect('... under the key that the application uses', await call('EXISTS', `${prefix}user:7`), 1)
  expect('... which it finds itself', await client.get('user:7') !== null)
  await expectRead('no such row: the database is not asked', shield, database, 1000, null, 0, 'absent')
  await expectRead('no such id: nobody is asked', shield, database, "7'--", null, 0, 'invalid')
  await expectRead('... nor for none at all', shield, database, undefined, null, 0, 'invalid')
  const texts = new Shield(client, 'users', 'user', patient)
  await expectRead('... nor for text that is no Unicode', texts, database, '\ud800', null, 0, 'invalid')

  await shield.write('1000', database.inserting(Buffer.from('')))
  await expectRead('a row that was just written, and is empty', shield, database, 1000, Buffer.from(''), 0, 'hit')
  await shield.forget(1000)
  await expectRead('... and is no longer cached', shield, database, 1000, Buffer.from(''), 1, 'maybe')
  database.rows.delete(1000n)
  await shield.forget(1000)
  await expectRead('a row that was deleted: the filter still knows it', shield, database, 1000, null, 1, 'maybe')
  await expectRead('... and the cache knows better', shield, database, 1000, null, 0, 'hit')
  const left = Number(await call('PTTL', `${prefix}user:1000`))
  expect('... for shorter than a row', left > 0 && left <= 600000 && await call('PTTL', `${prefix}user:7`) > 600000)
  await shield.write(1000, database.inserting(Buffer.from('-')))
  await expectRead('a row that looks like the sentinel is never cached', shield, database, 1000, Buffer.from('-'), 1, 'maybe')

  await call('HSET', `${prefix}user:8`, 'a', 'hash')
  await expectRead('a cached hash: the database is asked', shield, database, 8, row(8), 1, 'unknown error')
  await call('BF.RESERVE', 'full', '0.01', '1', 'NONSCALING')
  await call('BF.ADD', 'full', '1')
  const full = new Shield(client, 'full', 'user', { ...patient, item: BigInt })
  await refused("an error inside of the reply's array", full, database, 2)
  expect('nothing else went wrong', [shield.counts.error, full.counts.error], [1, 0])
}

async function rarer (client) {
  const [database, shield] = [new Database(), shieldOf(client)]
  await call('FLUSHALL')
  await rebuild([...database.rows.keys()])
  const found = []
  const sampling = shieldOf(client, { sample: 1, onWrong: (id, row) => found.push([id, row]) })
  await expectRead('sampled: absent, and so it is', sampling, database, 2000, null, 1, 'absent')
  database.rows.set(2000n, row(2000))
  await expectRead('sampled: absent, but there', sampling, database, 2000, row(2000), 1, 'absent wrong')
  expect('... and told', found, [[2000n, row(2000)]])

  let token
  await shield.write(2001, async id => {
    token = await call('BF.REBUILD', 'users', 'START')
    throw new Error('lost')
  }).catch(error => expect('a commit throws what it throws', error.message, 'lost'))
  const again = await call('BF.REBUILD', 'users', 'CHECK', token, '2001')
  expect('... may have happened: added again', again.map(Number), [1])
  await call('BF.REBUILD', 'users', 'ABORT')
  await shield.write(3, async id => {})
  expect('a commit without a row leaves nothing cached', await call('EXISTS', 'user:3'), 0)

  await call('BF.LOADING', 'users')
  const one = shieldOf(client, { limit: 1, patience: 50 })
  let leave
  const other = one.read(3001, id => new Promise(resolve => { leave = resolve }))
  await until(async () => leave)
  const busy = await one.read(3002, database.find).catch(error => error)
  expect('a second question that is unknown: Busy', busy instanceof Busy)
  leave(null)
  expect('... the first has its answer', await other, null)
  expect('... and leaves its place', await one.read(5, database.find), row(5))

  const plain = new Shield(client, 'users', 'json', { ...patient, item: BigInt })
  await plain.write(9, async id => ({ name: 'Änne' }))
  expect('rows are JSON unless told otherwise', await plain.read(9), { name: 'Änne' })
}

async function waiting (client, writer) {
  const database = new Database()
  await rebuild([...database.rows.keys()])
  await shieldOf(client, { writer, replicas: 1 }).write(4, database.inserting(row('four')))
  expect('one replica has it', database.rows.get(4n), row('four'))
  const two = shieldOf(client, { writer, replicas: 2, writeTimeout: 200 })
  await refused('two replicas are wanted, and there is one', two, database, 5)
  await refused('a file is wanted, and there is none', shieldOf(client, { writer, aof: [1, 0] }), database, 5)
  const error = (() => { try { return shieldOf(client, { replicas: 1 }) } catch (error) { return error } })()
  expect(error.message, error instanceof TypeError)

  // A WAIT that is sent again on a new connection is about nothing: it would count whoever
  // is connected.
  await order(`stop ${REPLICA}`)
  const slow = shieldOf(client, { writer, replicas: 1 })
  const write = slow.write(6000, database.inserting(row('new'))).catch(error => error)
  await until(async () => String(await call('INFO', 'clients')).includes('blocked_clients:1'))
  await order('kill')
  await order(`go ${REPLICA}`)
  await order('start')
  expect(`the server ends while a replica is waited for: ${(await write).message}`, await write instanceof NotCommitted)
  expect('... nothing was committed', database.rows.has(6000n), false)
}

// The client keeps a queue, retries, and has no time-outs of its own.
async function goneSlowBack (client) {
  await until(() => call('FLUSHALL'))
  const [database, shield] = [new Database(), shieldOf(client, quick)]
  await rebuild([...database.rows.keys()])
  await soon('a cached row', shield, database, 7, 'hit')
  await order('stop')
  await expectRead('a server that hangs: the database is asked', shield, database, 7, row(7), 1, 'unknown error')
  const crowded = shieldOf(client, { ...quick, unanswered: 1 })
  const [first, second] = [crowded.read(1, database.find), crowded.read(2, database.find)]
  expect('... too many without an answer', [await first, await second, crowded.counts.error], [row(1), row(2), 2])
  await refused('a write', shield, database, 1000)
  await order('go')
  await soon('it goes on', shield, database, 7, 'hit')
  await order('kill')
  await expectRead('a server that is gone: the database is asked', shield, database, 7, row(7), 1, 'unknown error')
  await refused('a write', shield, database, 1000)
  await order('start')
  await soon('it is back, and empty', shield, database, 8, ...any)
  await until(() => call('PING'))
  await rebuild([...database.rows.keys()])
  await soon('... and filled', shield, database, 1000, 'absent')
  await soon('... and caches', shield, database, 7, 'hit')
}

async function behindASentinel () {
  await call('FLUSHALL')
  const client = new library({ sentinels: [{ host, port: Number(SENTINEL) }], name: 'shop', sentinelRetryStrategy: () => 50, ...never })
  client.on('error', () => {})
  const [database, shield] = [new Database(), shieldOf(client)]
  await rebuild([...database.rows.keys()])
  await soon('a cached row', shield, database, 7, 'hit')
  await order(`promote ${REPLICA}`)
  await soon('a replica was promoted, and is asked', shield, database, 1000, ...any)
  await shield.write(1000, database.inserting(row('written')))
  const replica = await open({ port: Number(REPLICA) })
  expect('... and written to', await replica.get('user:1000'), String(row('written')))
  end(replica)
  await order(`promote ${port}`)
  await soon('... and back', shield, database, 1001, ...any)
  end(client)
}

async function overACluster (client, prefix) {
  const parts = 8
  const [database, shield] = [new Database(), shieldOf(client, { parts })]
  await Promise.all(masters.map(async port => {
    const one = await open(isNodeRedis ? { socket: { host, port } } : { port })
    await (isNodeRedis ? one.sendCommand(['FLUSHALL']) : one.call('FLUSHALL'))
    end(one)
  }))
  for (const tag of partsTags(parts)) {
    const words = ['BF.RESERVE', `users:{${tag}}`, '0.0000001', '1000', 'READY']
    await (isNodeRedis ? client.sendCommand(words[1], false, words) : client.call(...words))
  }
  await Promise.all([...database.rows].map(([id, row]) => shield.write(id, database.inserting(row))))
  for (let id = 0; id < 100; id += 2) await shield.forget(id)
  const rows = await Promise.all(Array.from({ length: 200 }, (_, id) => shield.read(id, database.find)))
  expect('100 rows in 8 parts on 3 nodes', isDeepStrictEqual(rows, [...database.rows.values(), ...new Array(100).fill(null)]))
  const wanted = { hit: 50, absent: 100, maybe: 50, unknown: 0, invalid: 0, error: 0, wrong: 0 }
  expect('... every part has an answer', shield.counts, wanted)
  const { key } = shield.place(1)
  expect('... under the key that the application uses', String(key).startsWith(`${prefix}user:{`))

  const filter = String(shield.place(1).filter)
  await order(`moving ${filter}`)
  await shield.write(1, database.inserting(row('moving')))
  expect('a write while its slot is moving', await shield.read(1, database.find), row('moving'))
  await order(`moved ${filter}`)
  await shield.write(1, database.inserting(row('moved')))
  await expectRead('a write to a slot that has moved', shield, database, 1, row('moved'), 0, 'hit')

  const hasty = shieldOf(client, { parts, writer: client, replicas: 1, ...quick })
  await refused('no master has a replica', hasty, database, 2)
  await soon('a cached row', hasty, database, 3, 'hit')
  for (const port of masters) await order(`stop ${port}`)
  await expectRead('the nodes hang: the database is asked', hasty, database, 3, row(3), 1, 'unknown error')
  await order('back')
  await soon('they go on', hasty, database, 3, 'hit')
}

// A connection that never ends is one that the client goes on with, without socketTimeout.
async function takenOver (settings) {
  const client = await openCluster({ ...settings, socketTimeout: 1000 })
  const [database, shield] = [new Database(), shieldOf(client, { parts: 8, ...quick })]
  await soon('a cached row', shield, database, 5, 'hit')
  await order(`taken ${shield.place(5).filter}`)
  await expectRead('a node hangs: the database is asked', shield, database, 5, row(5), 1, 'unknown error')
  await soon('... until another node has its slot, and no filter', shield, database, 5, ...any)
  await order('back')
  end(client)
}

async function withoutParts (client) {
  const error = (() => { try { return shieldOf(client) } catch (error) { return error } })()
  expect(error.message, error instanceof TypeError)
  const shield = new Shield(client, '{users}', '{users}:user', { ...patient, item: BigInt })
  const words = ['BF.RESERVE', '{users}', '0.0000001', '1000', 'READY']
  await (isNodeRedis ? client.sendCommand(words[1], false, words) : client.call(...words))
  const database = new Database()
  await shield.write(1, async id => 'one')
  await expectRead('names with one {tag}', shield, database, 1, 'one', 0, 'hit')
  await expectRead('... say absent too', shield, database, 2, null, 0, 'absent')
}

// A server that says OK to all but these commands; its port.
async function standIn (answers) {
  const server = createServer(line => line.on('error', () => {}).on('data', asked => {
    for (const [, word] of String(asked).matchAll(/\*\d+\r\n\$\d+\r\n([A-Z.]+)\r\n/gi)) {
      line.write(answers[word.toUpperCase()] ?? '+OK\r\n')
    }
  }))
  await once(server.listen(0, host), 'listening')
  server.unref()
  return server.address().port
}

const openAt = port => open(isNodeRedis ? { socket: { host, port } } : { port })

async function oddReplies () {
  const database = new Database()
  for (const said of ['$-1', '*-1', '+absent', '*0', '*1\r\n:7', '*1\r\n+OK', '*2\r\n:1\r\n:1']) {
    const client = await openAt(await standIn({ 'BF.INSERT': `${said}\r\n` }))
    await refused(`an add that is answered by ${shown(said)}`, shieldOf(client), database, 1000)
    end(client)
  }
  for (const said of ['+OK', '$-1', '*0', '$1\r\n9']) {
    const port = await standIn({ 'BF.INSERT': '*1\r\n:1\r\n', WAIT: `${said}\r\n` })
    const [client, writer] = [await openAt(port), await openAt(port)]
    await refused(`a WAIT that is answered by ${shown(said)}`, shieldOf(client, { writer, replicas: 1 }), database, 1000)
    for (const one of [client, writer]) end(one)
  }
  for (const said of ['*2\r\n*1\r\n+absent\r\n$-1', '*1\r\n+absent', '*3\r\n+absent\r\n$-1\r\n$-1', '+absent']) {
    const client = await openAt(await standIn({ 'BF.GUARD': `${said}\r\n` }))
    const what = `a question that is answered by ${shown(said)}: the database is asked`
    await expectRead(what, shieldOf(client), database, 7, row(7), 1, 'unknown error')
    end(client)
  }
  const client = await openAt(await standIn({ 'BF.GUARD': '-ERR no\r\n' }))
  log.length = 0
  await new Shield(client, 'users', 'user', { ...patient, log: line => log.push(line) })
    .read('7\nforged \x1b[2J\x9b', database.find)
  expect('an id ends no line of a log', log.map(line => /\p{C}/u.test(line)), [false])
  end(client)
}

// What `bulwark parts` says of them.
const told = (...words) => String(execFileSync(PROGRAM, ['parts', ...words, '--format', 'json']))
  .trim().split('\n').map(JSON.parse)

function theProgramsParts () {
  for (const parts of [1, 2, 3, 8, 100, 128, 1000, 16384]) {
    expect(`the tags of ${parts} parts are the program's`,
      isDeepStrictEqual(partsTags(parts), told(String(parts)).map(({ tag }) => tag)))
  }
  const items = [...Array(50).keys()].map(String).concat('user:1', 'Änne')
  const shield = new Shield(own, 'users', 'user', { parts: 128 })
  expect('so are the parts of items', isDeepStrictEqual(items.map(item => String(shield.place(item).filter)),
    told('128', ...items).map(({ tag }) => `users:{${tag}}`)))
}

theProgramsParts()
const old = String(await call('INFO', 'server')).includes('redis_version:6.')
const ways = isNodeRedis
  ? [{ RESP: 2 }, { RESP: 3 }, { RESP: 3, keyPrefix: 'app:' }]
  : [{}, { keyPrefix: 'app:' }, { enableAutoPipelining: true }]
if (name === 'ioredis6') ways.push({ protocol: 3, keyPrefix: 'app:' })
for (const settings of ways) {
  if (old && (settings.RESP ?? settings.protocol) === 3) {
    console.log('  skipped: RESP3')
    continue
  }
  console.log(` ${name}, ${shown(settings)}`)
  const client = await open(settings)
  await readsAndWrites(client, prefixOf(settings))
  end(client)
  console.log('  ... a cluster')
  const cluster = await openCluster(settings)
  await overACluster(cluster, prefixOf(settings))
  end(cluster)
  if (!isNodeRedis) await takenOver(settings)
}
console.log(' rarer things, over a unix socket')
const local = await open(isNodeRedis ? { socket: { path: SOCKET } } : { path: SOCKET })
await rarer(local)
end(local)
console.log(' odd replies')
await oddReplies()
console.log(' a cluster without parts')
const cluster = await openCluster({})
await withoutParts(cluster)
end(cluster)
if (!isNodeRedis) {
  console.log(' behind a Sentinel')
  await behindASentinel()
}
console.log(' waiting')
const [reader, writer] = [await open({}), await open({})]
await waiting(reader, writer)
console.log(' gone, slow, back')
await goneSlowBack(reader)
for (const client of [reader, writer, own]) end(client)
console.log(` ${name}: ${steps} steps`)
