// SPDX-License-Identifier: BSD-3-Clause
// drop_in.mjs - node-redis' own calls for Bloom filters, unchanged: client.bf.
//
// run.sh starts it with the port of a server of its own, which this ends.
import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'

const { createClient, RESP_TYPES } = createRequire(process.cwd() + '/build/deps/node-redis/')('redis')

function expect (what, got, wanted) {
  const ok = isDeepStrictEqual(got, wanted)
  console.log(`  ${ok ? 'ok ' : 'NOT'} ${what}: ${JSON.stringify(got)}`)
  if (!ok) { console.error(`wanted ${JSON.stringify(wanted)}`); process.exit(1) }
}

for (const RESP of [2, 3]) {
  const client = createClient({ socket: { host: '127.0.0.1', port: Number(process.argv[2]) }, RESP })
  client.on('error', () => {})
  await client.connect()
  if (RESP === 3 && (await client.info('server')).includes('redis_version:6.')) {
    console.log('  RESP3: skipped, Redis 6.0 has no booleans for modules')
    await client.sendCommand(['SHUTDOWN', 'NOSAVE']).catch(() => {})
    client.destroy()
    break
  }
  await client.flushAll()
  const bf = client.bf
  console.log(`  RESP${RESP}`)

  expect('reserve', await bf.reserve('seen', 0.001, 1000000), 'OK')
  expect('add', await bf.add('seen', 'anna'), true)
  expect('add, again', await bf.add('seen', 'anna'), false)
  expect('mAdd', await bf.mAdd('seen', ['anna', 'bob', 'carol']), [false, true, true])
  expect('exists', await bf.exists('seen', 'bob'), true)
  expect('exists, of what is not there', await bf.exists('seen', 'dave'), false)
  expect('mExists', await bf.mExists('seen', ['anna', 'dave']), [true, false])
  expect('insert', await bf.insert('made', ['a', 'b'], { CAPACITY: 1000, ERROR: 0.01 }), [true, true])
  expect('card', await bf.card('seen'), 3)

  const info = await bf.info('seen')
  const { Size, ...others } = info
  expect('info', others, {
    Capacity: 1000000, 'Number of filters': 1, 'Number of items inserted': 3, 'Expansion rate': 2
  })
  expect('info: 16 bits an item', Math.round(Size * 8 / 1000000), 16)

  const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).bf
  let piece = await bytes.scanDump('made', 0)
  for (; piece.iterator !== 0; piece = await bytes.scanDump('made', piece.iterator)) {
    await bytes.loadChunk('copy', piece.iterator, piece.chunk)
  }
  expect('scanDump, loadChunk', await bf.mExists('copy', ['a', 'b', 'c']), [true, true, false])

  await bf.reserve('small', 0.01, 1, { NONSCALING: true })
  const [, refused] = await bf.mAdd('small', ['a', 'b'])
  expect('a refused item: false in RESP2, an error in RESP3', refused instanceof Error || refused, RESP === 3)

  const again = await bf.reserve('seen', 0.001, 1).catch(error => error.message)
  expect('reserve, again', again, 'ERR item exists')
  if (RESP === 3) await client.sendCommand(['SHUTDOWN', 'NOSAVE']).catch(() => {})
  client.destroy()
}
