import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { areas, Connection, ConnectionLostError, LibvirtError, ProtocolError } from '../src/index.ts'
import { encodeFrame, MessageType, Program, Status } from '../src/wire/frame.ts'
import { eventually } from './eventually.ts'
import { replyFrame, ScriptedDaemon } from './scripted-daemon.ts'

const { getHostname, authList, open } = areas.connect
let daemon: ScriptedDaemon

beforeEach(async () => {
  daemon = await ScriptedDaemon.start()
})
afterEach(() => daemon.stop())

const connect = (options = {}) => Connection.open({ endpoint: daemon.endpoint, ...options })
const reason = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

describe('a daemon that misbehaves', () => {
  test('garbage never hangs a call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (garbage) => {
        daemon.on(getHostname, (_call, peer) => peer.socket.end(garbage))
        const connection = await connect()
        expect(await reason(connection.connect.getHostname())).toBeInstanceOf(LibvirtError)
        await connection.closed
      }),
      { numRuns: 40 },
    )
  })

  test('a truncated reply never hangs a call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 47 }), async (bytes) => {
        daemon.on(getHostname, (call, peer) =>
          peer.socket.end(replyFrame(call, getHostname.result, 'sixteen bytes, ok').subarray(0, bytes)),
        )
        const connection = await connect()
        expect(await reason(connection.connect.getHostname())).toMatchObject({ name: 'ConnectionLostError', outcome: 'unknown' })
      }),
      { numRuns: 20 },
    )
  })

  test.each([3, 27, 33_554_433])('a length of %d ends the connection', async (length) => {
    const bytes = Buffer.alloc(28)
    bytes.writeUInt32BE(length)
    daemon.on(getHostname, (_call, peer) => void peer.socket.write(bytes))
    const connection = await connect()
    expect(await reason(connection.connect.getHostname())).toMatchObject({ outcome: 'unknown' })
    expect(await connection.closed).toBeInstanceOf(ProtocolError)
  })

  test('a reply to an unknown call ends the connection', async () => {
    daemon.on(getHostname, (call, peer) => peer.reply({ ...call, serial: 999 }, getHostname.result, 'x'))
    const connection = await connect()
    await reason(connection.connect.getHostname())
    expect((await connection.closed).message).toContain('the unknown call 999')
  })

  test('a daemon that accepts and sends nothing fails the handshake in time', async () => {
    daemon.on(authList, () => {})
    expect(await reason(connect({ openTimeoutMs: 50 }))).toMatchObject({ name: 'ConnectionLostError', outcome: 'not sent' })
  })

  test('a rejected handshake has its reason', async () => {
    daemon.on(open, (call, peer) => peer.refuse(call, 5, 'no such driver'))
    expect(await reason(connect())).toMatchObject({ message: expect.stringContaining('no such driver') })
  })

  test('SASL only: rejected with advice', async () => {
    daemon.on(authList, (call, peer) => peer.reply(call, authList.result, [1]))
    expect(await reason(connect())).toMatchObject({ message: expect.stringContaining('SASL') })
  })

  test('no daemon at all', async () => {
    const { endpoint } = daemon
    await daemon.vanish()
    expect(await reason(Connection.open({ endpoint }))).toMatchObject({
      outcome: 'not sent',
      message: expect.stringContaining('cannot reach libvirtd'),
    })
  })
})

describe('keepalive', () => {
  const keepaliveFrame = (procedure: number) =>
    encodeFrame({ program: Program.keepalive, procedure, type: MessageType.message, serial: 0, status: Status.ok })
  const [ping, pong] = [keepaliveFrame(1), keepaliveFrame(2)]

  test('an unresponsive daemon loses the connection, with every pending call', async () => {
    daemon.on(getHostname, () => {})
    const connection = await connect({ keepalive: { intervalMs: 50, count: 3 } })
    const error = await reason(connection.connect.getHostname())
    expect(error).toBeInstanceOf(ConnectionLostError)
    expect((error as Error).message).toContain('no data from the daemon for 200 ms')
    expect(daemon.received.filter((frame) => frame.program === Program.keepalive).length).toBe(3)
  })

  test('pings are answered', async () => {
    const connection = await connect()
    daemon.peers[0]?.socket.write(ping)
    const pong = await eventually('an answer', () => daemon.received.find((frame) => frame.program === Program.keepalive))
    expect(pong).toMatchObject({ procedure: 2, type: MessageType.message })
    await connection.close()
  })

  test('bytes that arrived while this process stood still count', async () => {
    daemon.on(getHostname, (call, peer) => peer.reply(call, getHostname.result, 'h'))
    const connection = await connect({ keepalive: { intervalMs: 20, count: 1 } })
    const stall = new Int32Array(new SharedArrayBuffer(4))
    let stalls = 0
    daemon.onPing = (peer) => {
      peer.socket.write(pong)
      if (stalls++ < 5) Atomics.wait(stall, 0, 0, 60)
    }
    await eventually('five stalls', () => stalls > 5)
    expect(await connection.connect.getHostname()).toBe('h')
    await connection.close()
  })

  test('any received byte resets it', async () => {
    daemon.on(getHostname, () => {})
    const connection = await connect({ keepalive: { intervalMs: 20, count: 1 } })
    const call = connection.connect.getHostname({}, { timeoutMs: 200 })
    const talking = setInterval(() => daemon.peers[0]?.socket.write(ping), 5)
    expect(await reason(call)).toMatchObject({ name: 'TimeoutError' })
    clearInterval(talking)
    await connection.close()
  })
})
