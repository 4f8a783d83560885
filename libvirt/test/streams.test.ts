import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { areas, Connection, fillHoles, Hole } from '../src/index.ts'
import { holePayload } from '../src/connection/stream.ts'
import { encodeFrame, encodePacket, MessageType, Status } from '../src/wire/frame.ts'
import type { Frame } from '../src/wire/frame.ts'
import { eventually } from './eventually.ts'
import { ScriptedDaemon } from './scripted-daemon.ts'
import type { Peer } from './scripted-daemon.ts'

const { upload, download } = areas.volumes
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

/** Confirms our "ok" as libvirtd does, and gives what came before it. */
function confirming(peer: Peer): Frame[] {
  const packets: Frame[] = []
  const before = daemon.heard.length
  const timer = setInterval(() => {
    packets.splice(
      0,
      Infinity,
      ...daemon.heard.slice(before).filter((frame) => frame.type === MessageType.stream || frame.type === MessageType.hole),
    )
    const ok = packets.find((frame) => frame.status === Status.ok)
    if (!ok) return
    clearInterval(timer)
    peer.packet(ok, Status.ok)
  }, 2)
  return packets
}

const packetsHeard = (status: number) => daemon.heard.filter((frame) => frame.type === MessageType.stream && frame.status === status)

describe('download', () => {
  test('data that overtakes the reply is kept, whatever its size', async () => {
    daemon.on(download, (call, peer) => {
      for (let i = 0; i < 20; i++) peer.packet(call, Status.continue, Buffer.alloc(200_000, i))
      peer.reply(call)
      peer.packet(call, Status.continue)
      confirming(peer)
    })
    const bytes = await buffer(await connection.volumes.download({ volume }))
    expect(bytes.length).toBe(4_000_000)
    expect(bytes[0]).toBe(0)
    expect(bytes.at(-1)).toBe(19)
  })

  test('a slow reader stops the daemon, not the memory', async () => {
    let sent = 0
    daemon.on(download, (call, peer) => {
      peer.reply(call)
      const pump = () => {
        while (
          sent < 64 &&
          peer.socket.write(encodePacket({ ...call, type: MessageType.stream, status: Status.continue }, Buffer.alloc(262_120)))
        )
          sent++
        if (sent < 64)
          peer.socket.once('drain', () => {
            sent++
            pump()
          })
        else peer.packet(call, Status.continue)
      }
      pump()
      confirming(peer)
    })
    const stream = await connection.volumes.download({ volume })
    await eventually('the stream to be full', () => stream.readableLength >= 1024 * 1024 || undefined)
    expect(stream.readableLength).toBeLessThan(3 * 1024 * 1024)
    expect(sent).toBeLessThan(64)
    expect((await buffer(stream)).length).toBe(64 * 262_120)
  })

  test('sparse: holes arrive as their length and can be filled', async () => {
    daemon.on(download, (call, peer) => {
      peer.reply(call)
      peer.packet(call, Status.continue, Buffer.from('ab'))
      const header = { ...call, type: MessageType.hole, status: Status.continue }
      peer.socket.write(encodeFrame(header, (to) => holePayload.write(to, { length: 300_000n, flags: 0 })))
      peer.packet(call, Status.continue)
      confirming(peer)
    })
    const pieces: unknown[] = await (await connection.volumes.download({ volume, flags: ['sparse'] })).toArray()
    expect(pieces).toEqual([Buffer.from('ab'), new Hole(300_000n)])
    const filled = await buffer(Readable.from(fillHoles(await connection.volumes.download({ volume, flags: ['sparse'] }))))
    expect(filled).toEqual(Buffer.concat([Buffer.from('ab'), Buffer.alloc(300_000)]))
  })

  test('an error in the middle destroys the stream with the reason', async () => {
    daemon.on(download, (call, peer) => {
      peer.reply(call)
      peer.packet(call, Status.continue, Buffer.from('half'))
      peer.packet(call, Status.error)
    })
    await expect(buffer(await connection.volumes.download({ volume }))).rejects.toMatchObject({
      name: 'RefusedError',
      procedure: 'STORAGE_VOL_DOWNLOAD',
    })
  })

  test('a refused call rejects and leaves nothing behind', async () => {
    daemon.on(download, (call, peer) => peer.refuse(call, 50, 'no such volume'))
    await expect(connection.volumes.download({ volume })).rejects.toMatchObject({ code: 50 })
  })

  test('a lost connection destroys the stream', async () => {
    daemon.on(download, (call, peer) => peer.reply(call))
    const stream = await connection.volumes.download({ volume })
    const reading = buffer(stream)
    await daemon.vanish()
    await expect(reading).rejects.toMatchObject({ name: 'ConnectionLostError', outcome: 'unknown' })
  })

  test('destroying it early tells the daemon', async () => {
    daemon.on(download, (call, peer) => peer.reply(call))
    const stream = await connection.volumes.download({ volume })
    stream.destroy()
    await eventually('the abort', () => packetsHeard(Status.error)[0])
    expect(await connection.connect.close()).toBeUndefined()
  })

  test('a call that timed out is aborted when it opens after all', async () => {
    let late = (): void => {}
    daemon.on(download, (call, peer) => (late = () => peer.reply(call)))
    await expect(connection.volumes.download({ volume }, { timeoutMs: 20 })).rejects.toMatchObject({ name: 'TimeoutError' })
    late()
    await eventually('the abort', () => packetsHeard(Status.error)[0])
  })
})

describe('upload', () => {
  test('goes out in packets libvirt takes, then waits for the confirmation', async () => {
    let packets: Frame[] = []
    daemon.on(upload, (call, peer) => {
      peer.reply(call)
      packets = confirming(peer)
    })
    const data = Buffer.alloc(1_000_000, 'berth')
    await pipeline(Readable.from([data.subarray(0, 10), data.subarray(10)]), await connection.volumes.upload({ volume }))
    const sent = packets.filter((frame) => frame.status === Status.continue).map((frame) => frame.payload)
    expect(Math.max(...sent.map((payload) => payload.length))).toBe(262_120)
    expect(Buffer.concat(sent).equals(data)).toBe(true)
  })

  test('sparse: holes go out as their length', async () => {
    let packets: Frame[] = []
    daemon.on(upload, (call, peer) => {
      peer.reply(call)
      packets = confirming(peer)
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
    await expect(pipeline(Readable.from([Buffer.alloc(10)]), stream)).rejects.toMatchObject({ name: 'RefusedError' })
  })
})

describe('console', () => {
  test('carries both ways and ends when the guest does', async () => {
    let at: { call: Frame; peer: Peer } | undefined
    daemon.on(openConsole, (call, peer) => {
      at = { call, peer }
      peer.reply(call)
      confirming(peer)
    })
    const stream = await connection.domains.openConsole({ domain, flags: ['force'] })
    stream.write('hello')
    const heard = await eventually('what was typed', () => packetsHeard(Status.continue)[0])
    expect(heard.payload.toString()).toBe('hello')
    at?.peer.packet(at.call, Status.continue, Buffer.from('login: '))
    expect(String((await once(stream, 'data'))[0])).toBe('login: ')
    at?.peer.packet(at.call, Status.continue)
    await once(stream, 'close')
    expect(stream.errored).toBeNull()
  })

  test('ends when we hang up', async () => {
    daemon.on(openConsole, (call, peer) => {
      peer.reply(call)
      confirming(peer)
    })
    const stream = await connection.domains.openConsole({ domain })
    stream.resume().end('bye')
    await once(stream, 'close')
    expect(packetsHeard(Status.continue).map((frame) => frame.payload.toString())).toEqual(['bye'])
  })
})

test('a screenshot tells its type', async () => {
  daemon.on(screenshot, (call, peer) => {
    peer.reply(call, screenshot.result, 'image/png')
    peer.packet(call, Status.continue, Buffer.from('picture'))
    peer.packet(call, Status.continue)
    confirming(peer)
  })
  const picture = await connection.domains.screenshot({ domain })
  expect(picture.reply).toBe('image/png')
  expect((await buffer(picture)).toString()).toBe('picture')
})
