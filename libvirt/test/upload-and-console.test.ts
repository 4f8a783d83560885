import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { areas, Connection, Hole } from '../src/index.ts'
import { Status } from '../src/wire/frame.ts'
import type { Frame } from '../src/wire/frame.ts'
import { eventually } from './eventually.ts'
import { ScriptedDaemon } from './scripted-daemon.ts'
import type { Peer } from './scripted-daemon.ts'
import { confirming, packetsHeard } from './stream-script.ts'

const { upload } = areas.volumes
const { openConsole, screenshot } = areas.domains
const volume = { pool: 'p', name: 'v', key: '/p/v' }
const domain = { name: 'd', uuid: '00000000-0000-4000-8000-000000000001', id: 1 }
let daemon: ScriptedDaemon
let connection: Connection

beforeEach(async () => {
  daemon = await ScriptedDaemon.start()
  connection = await Connection.open({ endpoint: daemon.endpoint })
})
afterEach(() => daemon.stop())

describe('upload', () => {
  test('is sent in packets of the allowed size, then waits for the confirmation', async () => {
    let packets: Frame[] = []
    daemon.on(upload, (call, peer) => {
      peer.reply(call)
      packets = confirming(daemon, peer)
    })
    const data = Buffer.alloc(1_000_000, 'berth')
    await pipeline(Readable.from([data.subarray(0, 10), data.subarray(10)]), await connection.volumes.upload({ volume }))
    const sent = packets.filter((frame) => frame.status === Status.continue).map((frame) => frame.payload)
    expect(Math.max(...sent.map((payload) => payload.length))).toBe(262_120)
    expect(Buffer.concat(sent).equals(data)).toBe(true)
  })

  test('sparse: holes are sent as their length', async () => {
    let packets: Frame[] = []
    daemon.on(upload, (call, peer) => {
      peer.reply(call)
      packets = confirming(daemon, peer)
    })
    await pipeline([Buffer.from('ab'), new Hole(7n)], await connection.volumes.upload({ volume, flags: ['sparse'] }))
    expect(packets.map(({ type, status }) => [type, status])).toEqual([
      [3, 2],
      [6, 2],
      [3, 0],
    ])
  })

  test('a full disk fails the upload', async () => {
    daemon.on(upload, (call, peer) => {
      peer.reply(call)
      peer.packet(call, Status.error)
    })
    const stream = await connection.volumes.upload({ volume })
    await expect(pipeline(Readable.from([Buffer.alloc(10)]), stream)).rejects.toMatchObject({ name: 'RemoteError' })
  })
})

describe('console', () => {
  test('is bidirectional and ends with the guest', async () => {
    let at: { call: Frame; peer: Peer } | undefined
    daemon.on(openConsole, (call, peer) => {
      at = { call, peer }
      peer.reply(call)
      confirming(daemon, peer)
    })
    const stream = await connection.domains.openConsole({ domain, flags: ['force'] })
    stream.write('hello')
    const heard = await eventually('what was typed', () => packetsHeard(daemon, Status.continue)[0])
    expect(heard.payload.toString()).toBe('hello')
    at?.peer.packet(at.call, Status.continue, Buffer.from('login: '))
    expect(String((await once(stream, 'data'))[0])).toBe('login: ')
    at?.peer.packet(at.call, Status.continue)
    await once(stream, 'close')
    expect(stream.errored).toBeNull()
  })

  test('ends when the client closes it', async () => {
    daemon.on(openConsole, (call, peer) => {
      peer.reply(call)
      confirming(daemon, peer)
    })
    const stream = await connection.domains.openConsole({ domain })
    stream.resume().end('bye')
    await once(stream, 'close')
    expect(packetsHeard(daemon, Status.continue).map((frame) => frame.payload.toString())).toEqual(['bye'])
  })
})

test('a screenshot has its MIME type', async () => {
  daemon.on(screenshot, (call, peer) => {
    peer.reply(call, screenshot.result, 'image/png')
    peer.packet(call, Status.continue, Buffer.from('picture'))
    peer.packet(call, Status.continue)
    confirming(daemon, peer)
  })
  const picture = await connection.domains.screenshot({ domain })
  expect(picture.reply).toBe('image/png')
  expect((await buffer(picture)).toString()).toBe('picture')
})
