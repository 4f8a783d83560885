import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { areas, Connection, fillHoles, Hole } from '../src/index.ts'
import { holePayload } from '../src/connection/hole.ts'
import { encodeFrame, encodePacket, MessageType, Status } from '../src/wire/frame.ts'
import { eventually } from './eventually.ts'
import { ScriptedDaemon } from './scripted-daemon.ts'
import { confirming, packetsHeard } from './stream-script.ts'

const { download } = areas.volumes
const volume = { pool: 'p', name: 'v', key: '/p/v' }
let daemon: ScriptedDaemon
let connection: Connection

beforeEach(async () => {
  daemon = await ScriptedDaemon.start()
  connection = await Connection.open({ endpoint: daemon.endpoint })
})
afterEach(() => daemon.stop())

describe('download', () => {
  test('data that arrives before the reply is kept, whatever its size', async () => {
    daemon.on(download, (call, peer) => {
      for (let i = 0; i < 20; i++) peer.packet(call, Status.continue, Buffer.alloc(200_000, i))
      peer.reply(call)
      peer.packet(call, Status.continue)
      confirming(daemon, peer)
    })
    const bytes = await buffer(await connection.volumes.download({ volume }))
    expect(bytes.length).toBe(4_000_000)
    expect(bytes[0]).toBe(0)
    expect(bytes.at(-1)).toBe(19)
  })

  test('a slow reader applies backpressure instead of buffering', async () => {
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
      confirming(daemon, peer)
    })
    const stream = await connection.volumes.download({ volume })
    await eventually('the stream to be full', () => stream.readableLength >= 1024 * 1024 || undefined)
    expect(stream.readableLength).toBeLessThan(3 * 1024 * 1024)
    expect(sent).toBeLessThan(64)
    expect((await buffer(stream)).length).toBe(64 * 262_120)
  })

  test('sparse: holes arrive as their length and can be expanded', async () => {
    daemon.on(download, (call, peer) => {
      peer.reply(call)
      peer.packet(call, Status.continue, Buffer.from('ab'))
      const header = { ...call, type: MessageType.hole, status: Status.continue }
      peer.socket.write(encodeFrame(header, (to) => holePayload.write(to, { length: 300_000n, flags: 0 })))
      peer.packet(call, Status.continue)
      confirming(daemon, peer)
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
      name: 'RemoteError',
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

  test('destroying it early aborts the stream at the daemon', async () => {
    daemon.on(download, (call, peer) => peer.reply(call))
    const stream = await connection.volumes.download({ volume })
    stream.destroy()
    await eventually('the abort', () => packetsHeard(daemon, Status.error)[0])
    expect(await connection.connect.close()).toBeUndefined()
  })

  test('a call that timed out is aborted when it opens after all', async () => {
    let late = (): void => {}
    daemon.on(download, (call, peer) => (late = () => peer.reply(call)))
    await expect(connection.volumes.download({ volume }, { timeoutMs: 20 })).rejects.toMatchObject({ name: 'TimeoutError' })
    late()
    await eventually('the abort', () => packetsHeard(daemon, Status.error)[0])
  })
})
