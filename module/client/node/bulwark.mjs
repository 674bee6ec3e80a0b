// SPDX-License-Identifier: BSD-3-Clause
// bulwark.mjs - reads and writes through a filter that keeps away what does not exist.
//
// For node-redis and ioredis, on one server or in a cluster; ioredis behind a Sentinel, too. Copy
// this file; it imports nothing that is not Node's own (20.15 or newer).
//
//     const shield = new Shield(client, 'users', 'user', { item: BigInt })
//     const row = await shield.read(id, id => database.find(id)) // null: there is none
//     await shield.write(id, id => database.insert(id, row)) // or throws NotCommitted
//
// read asks cache and filter in one round trip (BF.GUARD). Only the filter's `absent` and the
// cache's sentinel turn a request away. `maybe` asks the database; so does whatever goes
// wrong, through a limiter, as `unknown`. write adds, commits, adds again.
//
// It doesn't fill filters (`bulwark fill` does), and doesn't retry. The manual: shield.md,
// clients.md.
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'

const SLOTS = 16384

// The filter couldn't be told of the item, so nothing was committed.
export class NotCommitted extends Error {}

// Too many questions whose answer is unknown wait for the database: try again later.
export class Busy extends Error {}

const defaults = {
  // Makes an id canonical: returns text, bytes, a whole number or a BigInt. null, a
  // SyntaxError and a RangeError mean that no such row can exist.
  /** @type {(id: any) => any} */
  item: id => id,
  parts: 1, // how many filters the items are divided among: `bulwark parts N`
  /** @type {(row: any) => any} */
  encode: JSON.stringify, // a row to text or bytes, or a promise of it
  /** @type {(value: any) => any} */
  decode: JSON.parse, // and back, from a Buffer
  ttl: 60, // seconds that a row stays in the cache
  nothing: '-', // the sentinel: the cached value that means "there is none"
  nothingTtl: 3, // seconds that it stays there; 0: there are no sentinels
  timeout: 250, // milliseconds that a read waits for the server, at each step
  writeTimeout: 5000, // the same for a write
  limit: 20, // how many questions that are unknown the database gets at a time
  patience: 5000, // milliseconds that another one waits, before Busy is thrown
  replicas: 0, // how many must have an item before it is committed (WAIT)
  aof: [0, 0], // the same for files: here, on replicas (WAITAOF)
  sample: 0, // which share of `absent` is asked of the database all the same
  /** @type {(id: any, row: any) => void} */
  onWrong: () => {}, // called with the id and the row if the database had one
  /** @type {any} */
  writer: null, // the client that writes, if not the same: with replicas and aof it has to be
  unanswered: 10000, // with so many commands unanswered, no read sends another
  /** @type {(line: string) => void} */
  log: console.error // called with a line about what went wrong
}

// A database behind a filter and a cache. The filter is called `filter`, with parts
// `filter:{tag}`; cache keys `cache:item`, with parts `cache:{tag}:item`. A keyPrefix of the
// client is put before cache keys, as in the client's own GET and SET; never before filters.
export class Shield {
  counts = { hit: 0, absent: 0, maybe: 0, unknown: 0, invalid: 0, error: 0, wrong: 0 }
  #settings
  #names
  #reader
  #writer
  #waits
  #limiter
  #nothing
  #said = -Infinity

  /** @param {Partial<typeof defaults>} settings */
  constructor (client, filter, cache, settings = {}) {
    const strange = Object.keys(settings).find(name => !(name in defaults))
    if (strange) throw new TypeError(`no such setting: ${strange}`)
    const s = this.#settings = { ...defaults, ...settings }
    this.#reader = new Server(client, s.timeout, s.unanswered, false)
    this.#writer = new Server(s.writer ?? client, s.writeTimeout, Infinity, true)
    this.#names = new Names(filter, this.#reader.prefix, cache, s.parts)
    this.#waits = waits(s)
    this.#limiter = new Limiter(s.limit, s.patience)
    this.#nothing = bytes(s.nothing)
    if (this.#waits.length > 0 && !s.writer) {
      throw new TypeError('while a write waits, nothing else goes through its connection: ' +
        'give writer, client.duplicate() for example')
    }
    if (this.#reader.isCluster && !this.#names.together()) {
      throw new TypeError('in a cluster give parts, or names with one {tag}: ' +
        'filter and cached value have to be in one slot')
    }
  }

  // For programs that fill or look: the names and bytes that read and write use. RangeError
  // or SyntaxError: the id can't be made canonical.
  place (id) {
    const canonical = id === null || id === undefined ? null : this.#settings.item(id)
    if (canonical === null) throw new RangeError(`no canonical id: ${id}`)
    return { id: canonical, ...this.#names.of(bytes(canonical)) }
  }

  // The row, from the cache or from load(canonical id), which returns null or undefined if
  // there is none. What comes from the cache is decode(encode(row)).
  async read (id, load) {
    let place
    try {
      place = this.place(id)
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error
      this.counts.invalid++
      return null
    }
    const [word, cached] = await this.#ask(place)
    this.counts[word === 'error' ? 'unknown' : word]++
    if (word === 'hit') return cached
    if (word === 'absent') return this.#lookAgain(place, load)
    const ask = async () => (await load(place.id)) ?? null
    const row = word === 'maybe' ? await ask() : await this.#limiter.run(ask)
    if (word !== 'error') await this.#remember(place, row)
    return row
  }

  // commit(canonical id) commits the row and returns it for the cache, or nothing: then what
  // is cached is deleted. If it throws, the row may exist all the same, so the rest is done.
  // Returns what commit does. Errors as place has them, and NotCommitted.
  async write (id, commit) {
    const place = this.place(id)
    try {
      const [added, ...waited] = await this.#writer.talk(place.filter, [addition(place), ...this.#waits])
      checkAdded(added)
      this.#waits.forEach((words, i) => checkWaited(words, waited[i]))
    } catch (cause) {
      const what = `${plain(place.item)} isn't in ${plain(place.filter)}, so nothing was committed`
      throw new NotCommitted(`${what}: ${advice(place, cause)}`, { cause })
    }
    let row
    let now = 'may be committed'
    try {
      row = await commit(place.id)
      now = 'is committed'
      return row
    } finally {
      await this.#addAgain(place, row, `${plain(place.item)} ${now}`)
    }
  }

  // Deletes what is cached, after a row was deleted or changed elsewhere.
  async forget (id) {
    const place = this.place(id)
    await this.#writer.call(place.key, ['DEL', place.key])
  }

  // hit and the row, or absent, maybe, unknown; error: no good answer came.
  async #ask (place) {
    try {
      const reply = await this.#reader.call(place.filter, ['BF.GUARD', place.filter, place.key, place.item])
      const [word, value] = guarded(reply)
      if (word !== 'hit') return [word, null]
      return ['hit', this.#nothing.equals(value) ? null : await this.#decoded(value)]
    } catch (error) {
      this.#failed(`can't read ${plain(place.key)}`, error)
      return ['error', null]
    }
  }

  async #decoded (value) {
    const row = await this.#settings.decode(value)
    if (row === null || row === undefined) throw new Error('it is no row, and not the sentinel')
    return row
  }

  // Now and then the database is asked although the filter says `absent`. A row that came in
  // between is no mistake: the filter then says something else.
  async #lookAgain (place, load) {
    if (Math.random() >= this.#settings.sample) return null
    let row
    try {
      row = (await this.#limiter.run(() => load(place.id), 0)) ?? null
    } catch (error) {
      this.#failed(`can't check ${plain(place.key)}`, error)
      return null
    }
    if (row !== null && (await this.#ask(place))[0] === 'absent') {
      this.counts.wrong++
      this.#settings.log(`${plain(place.item)} is absent from ${plain(place.filter)}, but the database has it`)
      this.#settings.onWrong(place.id, row)
    }
    return row
  }

  // NX: a value that a writer has put there is newer.
  async #remember (place, row) {
    try {
      const value = await this.#cached(row)
      if (value) await this.#reader.call(place.key, ['SET', place.key, ...value, 'NX'])
    } catch (error) {
      this.#failed(`can't cache ${plain(place.key)}`, error)
    }
  }

  // For a rebuild that began between the first add and the commit.
  async #addAgain (place, row, now) {
    const failed = what => error => this.#failed(`${now}, but ${what}`, error, true)
    const none = row === undefined || row === null
    const value = none ? null : await this.#cached(row).catch(failed('its row is not cached'))
    const cache = value ? ['SET', place.key, ...value] : ['DEL', place.key]
    await Promise.all([
      this.#writer.call(place.filter, addition(place)).then(checkAdded)
        .catch(failed('the second add failed: no harm, unless a rebuild began meanwhile')),
      this.#writer.call(place.key, cache).catch(failed(`${plain(place.key)} in the cache may be old`))
    ])
  }

  // The end of a SET; null: not to be cached. No row equals the sentinel.
  async #cached (row) {
    const s = this.#settings
    const value = row === null ? this.#nothing : bytes(await s.encode(row))
    const seconds = row === null ? s.nothingTtl : s.ttl
    if (!seconds || (row !== null && this.#nothing.equals(value))) return null
    return [value, 'PX', String(Math.trunc(seconds * 1000))]
  }

  // Counts it; logs it at most once a second, unless each one matters.
  #failed (what, error, always = false) {
    this.counts.error++
    const now = performance.now()
    if (!always && now < this.#said + 1000) return
    this.#said = now
    this.#settings.log(`${what}: ${plain(error.message)}`)
  }
}

// Which filter and which cache key an item has, all of it in bytes.
class Names {
  constructor (filter, prefix, cache, parts) {
    if (parts > 1 && (prefix + filter + cache).includes('{')) {
      throw new TypeError('with parts the names can have no { of their own')
    }
    this.filter = filter
    this.cache = Buffer.concat([prefix, bytes(cache)])
    const tags = partsTags(parts)
    this.tags = parts > 1 ? tags : null
  }

  of (item) {
    const tag = this.tags ? `:{${this.tags[crc32(item) % this.tags.length]}}` : ''
    const key = Buffer.concat([this.cache, bytes(`${tag}:`), item])
    return { filter: bytes(this.filter + tag), key, item }
  }

  // Are a filter and its cache keys in one slot, whatever the item?
  together () {
    const [one, other] = [this.of(bytes('1')), this.of(bytes('2'))]
    return this.tags !== null || (slot(one.filter) === slot(one.key) && slot(one.key) === slot(other.key))
  }
}

// Lets so many questions through at a time; another one waits, and gives up.
class Limiter {
  #room
  #patience
  #waiting = new Set()

  constructor (room, patience) {
    this.#room = room
    this.#patience = patience
  }

  async run (question, patience = this.#patience) {
    if (this.#room > 0) this.#room--
    else await this.#turn(patience)
    try {
      return await question()
    } finally {
      const [next] = this.#waiting
      if (next) next()
      else this.#room++
    }
  }

  #turn (patience) {
    return new Promise((resolve, reject) => {
      const end = answer => {
        clearTimeout(timer)
        this.#waiting.delete(next)
        answer()
      }
      const next = () => end(resolve)
      const timer = setTimeout(() => end(() => reject(new Busy('the database has enough to do'))), patience)
      this.#waiting.add(next)
    })
  }
}

// The client's server or servers. Nothing is left to the client's queue, which would keep it
// until the server is back: a patient one waits for the connection, another one fails.
class Server {
  #client
  #milliseconds
  #most
  #patient
  #open = 0

  constructor (client, milliseconds, most, patient) {
    this.#client = clientOf(client, milliseconds)
    this.#milliseconds = milliseconds
    this.#most = most
    this.#patient = patient
    this.prefix = this.#client.prefix
    this.isCluster = this.#client.isCluster
  }

  // The reply of the server that has the key.
  async call (key, words) {
    return this.#within(() => this.#client.call(key, words))
  }

  // The replies to commands that went through one connection. WAIT is about what its own
  // connection has sent: after a failover, on a new one, it would confirm nothing.
  async talk (key, commands) {
    if (commands.length === 1) return [await this.call(key, commands[0])]
    return this.#within(() => this.#client.lend(key, async (connection, send) => {
      const before = breaks(connection)
      const replies = await Promise.all(commands.map(send))
      if (breaks(connection) !== before) throw new Error('the connection broke meanwhile')
      return replies
    }))
  }

  async #within (ask) {
    const end = performance.now() + this.#milliseconds
    while (!this.#client.ready()) {
      if (!this.#patient || performance.now() > end) throw new Error('there is no connection')
      await sleep(5)
    }
    if (this.#open >= this.#most) throw new Error(`${this.#open} commands have no answer yet`)
    const answer = this.#counted(ask)
    let timer
    const late = new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error('no answer in time')), end - performance.now())
    })
    return Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }

  async #counted (ask) {
    this.#open++
    try {
      return await ask()
    } finally {
      this.#open--
    }
  }
}

// How often a connection has broken since it was first asked about.
const broken = new WeakMap()
function breaks (connection) {
  if (!broken.has(connection)) {
    broken.set(connection, 0)
    const count = () => broken.set(connection, broken.get(connection) + 1)
    for (const event of ['close', 'reconnecting', 'end']) connection.on(event, count)
  }
  return broken.get(connection)
}

// What the clients have in common:
//
//     prefix           of cache keys, in bytes: BF.GUARD doesn't get it from the client
//     ready()          is there a connection?
//     call(key, words) asks the server that has the key; replies in bytes
//     lend(key, use)   calls use(connection, words => reply) for that server
function clientOf (client, milliseconds) {
  if (typeof client.callBuffer === 'function') return client.isCluster ? ioredisCluster(client) : ioredis(client)
  if (typeof client.nodeClient === 'function') return nodeRedisCluster(client, milliseconds)
  if (typeof client.isReady === 'boolean' && client.sendCommand.length === 2) return nodeRedis(client, milliseconds)
  throw new TypeError('a client that is not known here: createClient, createCluster, Redis or Redis.Cluster')
}

// 36 is RESP_TYPES.BLOB_STRING. What isn't sent in time, isn't sent.
const nodeRedisOptions = milliseconds => ({ typeMapping: { 36: Buffer }, timeout: milliseconds })

function nodeRedis (client, milliseconds) {
  const options = nodeRedisOptions(milliseconds)
  const send = words => client.sendCommand(words, options)
  return {
    isCluster: false,
    prefix: bytes(client.options?.keyPrefix ?? ''),
    ready: () => client.isReady,
    call: (key, words) => send(words),
    lend: (key, use) => use(client, send)
  }
}

function nodeRedisCluster (cluster, milliseconds) {
  const options = nodeRedisOptions(milliseconds)
  return {
    isCluster: true,
    prefix: bytes(cluster._keyPrefix ?? ''),
    ready: () => cluster.isOpen,
    call: (key, words) => cluster.sendCommand(key, false, words, options),
    async lend (key, use) {
      await cluster.sendCommand(key, false, ['EXISTS', key], options) // learns where the slot is
      const client = await cluster.nodeClient(cluster.slots[slot(key)].master)
      return use(client, words => client.sendCommand(words, options))
    }
  }
}

// ioredis puts its prefix before the keys of commands that it knows: SET and DEL here. In a
// pipeline of our own, since with enableAutoPipelining it loses the names of commands that
// are sent by callBuffer().
async function ioredisSend (client, prefix, [name, key, ...rest]) {
  if (name === 'SET' || name === 'DEL') key = key.subarray(prefix.length)
  const [[error, reply]] = await client.pipeline().callBuffer(name, key, ...rest).exec()
  if (error) throw error
  return reply
}

function ioredis (client) {
  const prefix = bytes(client.options.keyPrefix ?? '')
  const send = words => ioredisSend(client, prefix, words)
  return {
    isCluster: false,
    prefix,
    ready: () => client.status === 'ready',
    call: (key, words) => send(words),
    lend: (key, use) => use(client, send)
  }
}

// ioredis sends a command that it doesn't know to any node, and follows the redirection.
function ioredisCluster (cluster) {
  const prefix = bytes(cluster.options.keyPrefix ?? '')
  const anywhere = words => ioredisSend(cluster, prefix, words)
  const owner = key => {
    const name = cluster.slots[slot(key)]?.[0]
    return cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === name)
  }
  return {
    isCluster: true,
    prefix,
    ready: () => cluster.status === 'ready',
    async call (key, words) {
      const node = words[0].startsWith('BF.') ? owner(key) : null
      if (!node) return anywhere(words)
      if (['close', 'reconnecting', 'end'].includes(node.status)) throw new Error('there is no connection')
      return ioredisSend(node, prefix, words).catch(error => {
        if (/^(MOVED|ASK) /.test(error.message)) return anywhere(words)
        throw error
      })
    },
    async lend (key, use) {
      await anywhere(['EXISTS', key]) // learns where the slot is
      const node = owner(key)
      return use(node, words => ioredisSend(node, prefix, words))
    }
  }
}

// NOCREATE: a lost filter is an error, and not made anew without its items.
const addition = place => ['BF.INSERT', place.filter, 'NOCREATE', 'ITEMS', place.item]

// The server's words lack the filter's name.
const advice = (place, { message }) => /^(ERR )?not found$/.test(message)
  ? `there is no filter ${plain(place.filter)}: run the rebuild (bulwark fill)`
  : message

// For people to read: an id could end a line of a log, and write the next one.
function plain (value) {
  return String(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, c => `\\u{${c.codePointAt(0).toString(16)}}`)
}

// What BF.GUARD says. String() would make the word of an array, too.
function guarded (reply) {
  const isWord = Array.isArray(reply) && (typeof reply[0] === 'string' || Buffer.isBuffer(reply[0]))
  const word = isWord && reply.length === 2 ? String(reply[0]) : ''
  if (!['hit', 'absent', 'maybe', 'unknown'].includes(word)) throw new Error(`an odd reply: ${reply}`)
  return [word, reply[1]]
}

// An error inside of the array is a value for the clients.
function checkAdded (reply) {
  const [added] = [reply].flat()
  if (added instanceof Error) throw added
  const isAnswer = Array.isArray(reply) && reply.length === 1 && [0, 1, false, true].includes(added)
  if (!isAnswer) throw new Error(`an odd reply: ${reply}`)
}

// Commands that say how many have the item. The server gives up before we do.
function waits ({ replicas, aof, writeTimeout }) {
  const milliseconds = String(Math.trunc(writeTimeout * 0.8))
  const commands = []
  if (replicas) commands.push(['WAIT', String(replicas), milliseconds])
  if (aof.some(Boolean)) commands.push(['WAITAOF', ...aof.map(String), milliseconds])
  return commands
}

function checkWaited ([name, ...wanted], reply) {
  const got = [reply].flat()
  wanted.pop() // milliseconds
  const enough = got.length === wanted.length &&
    got.every((count, i) => Number.isInteger(count) && count >= Number(wanted[i]))
  if (!enough) throw new Error(`${name} ${wanted}: only ${got} have it`)
}

function bytes (value) {
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (typeof value === 'string') {
    // Else half a character became another text's bytes.
    if (!value.isWellFormed()) throw new RangeError('text that is no Unicode')
    return Buffer.from(value)
  }
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return Buffer.from(String(value))
  throw new TypeError(`text, bytes, a whole number or a BigInt, not ${typeof value}: ${value}`)
}

function crc16 (key) {
  let crc = 0
  for (const byte of key) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)
    crc &= 0xffff
  }
  return crc
}

// A key's slot in a cluster: of what stands between the first { and the next }.
function slot (key) {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open)
  return crc16(close > open + 1 ? key.subarray(open + 1, close) : key) % SLOTS
}

// The tag of part k is the smallest number whose slot lies in the k-th of so many equal
// ranges of slots: the parts lie evenly on any number of nodes.
export function partsTags (parts) {
  if (!(Number.isInteger(parts) && parts >= 1 && parts <= SLOTS)) throw new RangeError(`parts: 1 to ${SLOTS}`)
  const tags = new Array(parts).fill(-1)
  for (let number = 0, missing = parts; missing > 0; number++) {
    const part = Math.floor(crc16(Buffer.from(String(number))) % SLOTS * parts / SLOTS)
    if (tags[part] >= 0) continue
    tags[part] = number
    missing--
  }
  return tags
}
