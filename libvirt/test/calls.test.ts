import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { areas, Connection, ConnectionLostError, ErrorCode, hasCode, ProtocolError, RemoteError, CancelledError } from '../src/index.ts'
import type { CallReport, TimeoutError } from '../src/index.ts'
import type { Frame } from '../src/wire/frame.ts'
import { eventually } from './eventually.ts'
import { replyFrame, ScriptedDaemon } from './scripted-daemon.ts'
import type { Peer } from './scripted-daemon.ts'

const { getHostname, getFreeMemory } = areas.connect
let daemon: ScriptedDaemon
let connection: Connection
let reports: CallReport[]
let held: { call: Frame; peer: Peer }[]

beforeEach(async () => {
  daemon = await ScriptedDaemon.start()
  held = []
  reports = []
  daemon.on(getHostname, (call, peer) => held.push({ call, peer }))
  connection = await Connection.open({ endpoint: daemon.endpoint, onCall: (report) => reports.push(report) })
  reports = []
})

afterEach(async () => {
  await daemon.stop()
})

function answer(index: number, name: string): void {
  const { call, peer } = held[index] as (typeof held)[number]
  peer.reply(call, getHostname.result, name)
}

const atTheDaemon = (count: number) => eventually(`${count} calls at the daemon`, () => held.length === count || undefined)

describe('calls', () => {
  test('replies are matched to calls in any order, fragmented or merged', async () => {
    const calls = [connection.connect.getHostname(), connection.connect.getHostname(), connection.connect.getHostname()]
    await atTheDaemon(3)
    const bytes = Buffer.concat([2, 0, 1].map((i) => replyFrame((held[i] as { call: Frame }).call, getHostname.result, `answer ${i}`)))
    const { socket } = (held[0] as { peer: Peer }).peer
    socket.setNoDelay(true)
    for (const part of [bytes.subarray(0, 50), bytes.subarray(50, 51), bytes.subarray(51)])
      await new Promise((resolve) => socket.write(part, resolve))
    expect(await Promise.all(calls)).toEqual(['answer 0', 'answer 1', 'answer 2'])
  })

  test('at most four are in flight; the others are queued', async () => {
    const calls = Array.from({ length: 6 }, () => connection.connect.getHostname())
    await atTheDaemon(4)
    answer(1, 'b')
    await atTheDaemon(5)
    expect(await calls[1]).toBe('b')
    for (const [index, name] of [
      [0, 'a'],
      [2, 'c'],
      [3, 'd'],
      [4, 'e'],
    ] as const)
      answer(index, name)
    await atTheDaemon(6)
    answer(5, 'f')
    expect(await Promise.all(calls)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  test('a remote error has code, procedure and the stack of the caller', async () => {
    daemon.on(areas.domains.lookupByName, (call, peer) => peer.refuse(call, ErrorCode.noDomain, 'Domain not found'))
    const error = await askForNothing().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(RemoteError)
    expect(error).toMatchObject({
      code: 42,
      outcome: 'refused',
      procedure: 'DOMAIN_LOOKUP_BY_NAME',
      message: 'DOMAIN_LOOKUP_BY_NAME: Domain not found',
    })
    expect((error as Error).stack).toContain('askForNothing')
    expect(hasCode(error, ErrorCode.noDomain)).toBe(true)
    expect(hasCode(error, ErrorCode.noNetwork)).toBe(false)
  })

  test('a call that timed out keeps its slot until its reply comes', async () => {
    const slow = Array.from({ length: 4 }, () => connection.connect.getHostname({}, { timeoutMs: 20 }))
    const waiting = connection.connect.getHostname({}, { timeoutMs: 20 })
    const outcomes = await Promise.all([...slow, waiting].map((call) => call.catch((error: TimeoutError) => error.outcome)))
    expect(outcomes).toEqual(['unknown', 'unknown', 'unknown', 'unknown', 'not sent'])
    const next = connection.connect.getHostname()
    expect(held.length).toBe(4)
    answer(0, 'too late')
    await atTheDaemon(5)
    answer(4, 'in time')
    expect(await next).toBe('in time')
  })

  test('a queued call whose signal aborts is never sent', async () => {
    const caller = new AbortController()
    const calls = Array.from({ length: 7 }, (_, i) => connection.connect.getHostname({}, i % 2 === 1 ? { signal: caller.signal } : {}))
    const settled = Promise.allSettled(calls)
    await atTheDaemon(4)
    caller.abort(new Error('gone'))
    const late = connection.within(caller.signal).connect.getHostname()
    for (const call of [calls[5], late]) {
      const error = await call!.catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(CancelledError)
      expect(error).toMatchObject({ outcome: 'not sent', procedure: 'CONNECT_GET_HOSTNAME', cause: caller.signal.reason })
    }
    for (const index of [0, 1, 2, 3]) answer(index, `answer ${index}`)
    await atTheDaemon(6)
    for (const index of [4, 5]) answer(index, `answer ${index}`)
    const values = (await settled).map((one) => (one.status === 'fulfilled' ? one.value : 'withdrawn'))
    expect(values).toEqual(['answer 0', 'answer 1', 'answer 2', 'answer 3', 'answer 4', 'withdrawn', 'answer 5'])
    expect(held.length).toBe(6)
  })

  test('an abort after the call was sent has no effect', async () => {
    const caller = new AbortController()
    const waiting = Array.from({ length: 5 }, () => connection.within(caller.signal).connect.getHostname())
    const settled = Promise.allSettled(waiting)
    await atTheDaemon(4)
    answer(0, 'a')
    await atTheDaemon(5)
    caller.abort()
    for (const index of [1, 2, 3, 4]) answer(index, 'a')
    expect((await settled).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'fulfilled'))
  })

  test('a lost connection rejects every call, with its outcome', async () => {
    const calls = Array.from({ length: 5 }, () => connection.connect.getHostname())
    const settled = Promise.allSettled(calls)
    await atTheDaemon(4)
    await daemon.vanish()
    const errors = (await settled).map((one) => (one as PromiseRejectedResult).reason as ConnectionLostError)
    expect(errors.map((error) => error.outcome)).toEqual(['unknown', 'unknown', 'unknown', 'unknown', 'not sent'])
    expect(errors[0]?.message).toContain('CONNECT_GET_HOSTNAME: outcome unknown')
    await expect(connection.connect.getHostname()).rejects.toMatchObject({ outcome: 'not sent' })
    expect(await connection.closed).toBeInstanceOf(ConnectionLostError)
  })

  test('a reply with trailing bytes fails its call, and only that', async () => {
    daemon.on(getFreeMemory, (call, peer) => peer.reply(call, getHostname.result, 'not eight bytes'))
    await expect(connection.connect.getFreeMemory()).rejects.toThrow(/NODE_GET_FREE_MEMORY: the reply cannot be decoded/)
    const next = connection.connect.getHostname()
    await atTheDaemon(1)
    answer(0, 'well')
    expect(await next).toBe('well')
  })

  test('arguments that cannot be encoded are rejected before anything is sent', async () => {
    const error = await connection.domains.lookupByName({ name: 'a\0b' }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ outcome: 'not sent', procedure: 'DOMAIN_LOOKUP_BY_NAME' })
  })

  test('each call is reported once', async () => {
    const settled = Promise.allSettled([connection.connect.getHostname(), connection.connect.getHostname({}, { timeoutMs: 20 })])
    await atTheDaemon(2)
    answer(0, 'a')
    await settled
    answer(1, 'late')
    await daemon.vanish()
    expect(reports.map(({ procedure, error }) => `${procedure} ${error?.name}`).toSorted()).toEqual([
      'CONNECT_GET_HOSTNAME TimeoutError',
      'CONNECT_GET_HOSTNAME undefined',
    ])
    expect(reports.every((report) => report.durationMs > 0 && report.queuedMs >= 0)).toBe(true)
  })
})

async function askForNothing(): Promise<unknown> {
  return await connection.domains.lookupByName({ name: 'nothing' })
}
