import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { areas, Connection, Host } from '../src/index.ts'
import type { CallReport, HostOptions, ConnectionReport, LibvirtError } from '../src/index.ts'
import { eventKinds } from '../src/protocol/events.ts'
import { domain as domainType } from '../src/protocol/structs.ts'
import { Status } from '../src/wire/frame.ts'
import type { Frame } from '../src/wire/frame.ts'
import { int, struct } from '../src/xdr/types.ts'
import { eventually } from './eventually.ts'
import { ScriptedDaemon } from './scripted-daemon.ts'
import type { Peer } from './scripted-daemon.ts'

const { registerDomainEvent, deregisterDomainEvent } = areas.registration
const domain = { name: 'd', uuid: '00000000-0000-4000-8000-000000000001', id: 1 }
const lifecycle = struct({ callback: int, domain: domainType, event: int, detail: int })
let daemon: ScriptedDaemon
let hosts: Host[] = []

beforeEach(async () => {
  daemon = await ScriptedDaemon.start()
  daemon.on(registerDomainEvent, (call, peer) => peer.reply(call, registerDomainEvent.result, 7))
  daemon.on(deregisterDomainEvent, (call, peer) => peer.reply(call))
  daemon.on(areas.domains.listAll, (call, peer) => peer.reply(call, areas.domains.listAll.result, [domain]))
})
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close()
  await daemon.stop()
})

function start(options: Partial<HostOptions> = {}): Host {
  const host = new Host({ endpoint: daemon.endpoint, backoff: { firstMs: 5, maxMs: 20 }, ...options })
  hosts.push(host)
  return host
}

const tell = (event: number) => {
  for (const peer of daemon.peers)
    if (!peer.socket.destroyed) peer.event(eventKinds.lifecycle.number, lifecycle, { callback: 7, domain, event, detail: 0 })
}
const registrations = () => daemon.received.filter((frame) => frame.procedure === registerDomainEvent.number).length

describe('events', () => {
  test('reach their listeners until they unsubscribe, with one registration', async () => {
    const connection = await Connection.open({ endpoint: daemon.endpoint })
    const seen: number[] = []
    const leave = await connection.subscribe('lifecycle', ({ event }) => void seen.push(event))
    const leaveToo = await connection.subscribe('lifecycle', ({ domain: { name }, event }) => void (name === 'd' && seen.push(event * 10)))
    tell(2)
    await eventually('both', () => seen.length === 2 || undefined)
    expect(registrations()).toBe(1)
    await Promise.all([leave(), leaveToo()])
    expect(daemon.received.at(-1)?.procedure).toBe(deregisterDomainEvent.number)
    tell(5)
    await connection.close()
    expect(seen).toEqual([2, 20])
  })

  test('a listener that throws and an event that cannot be decoded are reported, and do not end the connection', async () => {
    const problems: Error[] = []
    const connection = await Connection.open({ endpoint: daemon.endpoint, onProblem: (error) => problems.push(error) })
    await connection.subscribe('lifecycle', () => {
      throw new Error('my own fault')
    })
    tell(1)
    daemon.peers[0]?.event(eventKinds.lifecycle.number, int, 1)
    await eventually('both problems', () => problems.length === 2 || undefined)
    expect(problems.map((error) => error.message)).toEqual([
      'my own fault',
      expect.stringContaining('DOMAIN_EVENT_CALLBACK_LIFECYCLE: the event cannot be decoded'),
    ])
    await connection.close()
  })
})

describe('host', () => {
  test('reconnects: registers again, then lists again', async () => {
    const lists: string[][] = []
    const downs: string[] = []
    const events: number[] = []
    const onUp = async (host: Host) => void lists.push((await host.domains.listAll()).map(({ name }) => name))
    const host = start({ onUp, onDown: (reason) => downs.push(reason.message) })
    await host.subscribe('lifecycle', ({ event }) => void events.push(event))
    await host.whenUp()
    await eventually('the registration', () => registrations() === 1 || undefined)
    await daemon.vanish()
    await eventually('the loss to be noticed', () => !host.isUp || undefined)
    await expect(host.domains.listAll()).rejects.toMatchObject({ outcome: 'not sent' })
    await daemon.listen()
    await host.whenUp()
    expect(registrations()).toBe(2)
    tell(5)
    await eventually('the event', () => events.length > 0 || undefined)
    expect(events).toEqual([5])
    expect(lists).toEqual([['d'], ['d']])
    expect(downs.length).toBe(1)
  })

  test('an onUp that fails is retried', async () => {
    const problems: string[] = []
    let attempts = 0
    const onUp = () => {
      if (++attempts < 3) throw new Error(`attempt ${attempts}`)
    }
    const host = start({ onUp, onProblem: (error) => problems.push(error.message) })
    await host.whenUp()
    expect(problems).toEqual(['attempt 1', 'attempt 2'])
  })

  test('slow calls do not block quick ones, and both are reported', async () => {
    const calls: (CallReport & { connection: string })[] = []
    const connections: ConnectionReport[] = []
    const host = start({ onCall: (call) => calls.push(call), onConnection: (report) => connections.push(report) })
    await host.whenUp()
    daemon.on(areas.domains.destroy, () => {})
    const stuck = Array.from({ length: 5 }, () => host.domains.destroy({ domain }))
    const settled = Promise.allSettled(stuck)
    expect(await host.domains.listAll()).toEqual([domain])
    expect(calls.filter((call) => call.procedure === 'CONNECT_LIST_ALL_DOMAINS')).toMatchObject([{ connection: 'quick', error: undefined }])
    expect(connections.map(({ connection, state }) => `${connection} ${state}`).toSorted()).toEqual(['events up', 'quick up', 'slow up'])
    await daemon.vanish()
    expect((await settled).every((one) => one.status === 'rejected')).toBe(true)
  })

  test('guests that do not answer block no other call: they have a connection of their own, on demand', async () => {
    const { agentCommand } = areas.guests
    const asked: { call: Frame; peer: Peer }[] = []
    daemon.on(agentCommand, (call, peer) => asked.push({ call, peer }))
    daemon.on(areas.domains.destroy, (call, peer) => peer.reply(call))
    const answered: string[] = []
    const onCall = ({ procedure, connection }: CallReport & { connection: string }) =>
      procedure === agentCommand.name && answered.push(connection)
    const host = start({ onCall })
    await host.whenUp()
    const settled = Promise.allSettled(
      Array.from({ length: 9 }, (_, index) =>
        host.guests.agentCommand({ domain: { ...domain, uuid: domain.uuid.replace(/1$/, `${index}`) }, command: '{}' }),
      ),
    )
    await eventually('three calls', () => asked.length === 3 || undefined)
    await host.domains.destroy({ domain })
    expect(answered).toEqual([])
    while (answered.length < 9) {
      for (const { call, peer } of asked.splice(0)) peer.reply(call, agentCommand.result, '{}')
      await eventually('the next ones', () => asked.length > 0 || answered.length === 9 || undefined)
    }
    expect((await settled).every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(new Set(answered)).toEqual(new Set(['guests']))
  })

  test('disk copies block no other call: they have a connection of their own, on demand', async () => {
    const { createFrom } = areas.volumes
    const volume = { pool: 'p', name: 'v', key: 'k' }
    const copies: { call: Frame; peer: Peer }[] = []
    const calls: string[] = []
    daemon.on(createFrom, (call, peer) => copies.push({ call, peer }))
    daemon.on(areas.domains.destroy, (call, peer) => peer.reply(call))
    const host = start({ onCall: ({ procedure, connection }) => calls.push(`${connection} ${procedure}`) })
    await host.whenUp()
    expect(daemon.peers.length).toBe(3)
    const copy = () => host.volumes.createFrom({ pool: { name: 'p', uuid: domain.uuid }, xml: '<volume/>', from: volume })
    const copying = Array.from({ length: 5 }, copy)
    const settled = Promise.allSettled(copying)
    await eventually('three copies', () => copies.length === 3 || undefined)
    await host.domains.destroy({ domain })
    expect(await host.domains.listAll()).toEqual([domain])
    expect(daemon.peers.length).toBe(4)
    copies[0]?.peer.reply(copies[0].call, createFrom.result, volume)
    expect(await copying[0]).toEqual(volume)
    expect(calls).toContain('copies STORAGE_VOL_CREATE_XML_FROM')
    await eventually('the fourth', () => copies.length === 4 || undefined)
    copies[0]?.peer.socket.destroy()
    expect((await settled).map((one) => (one.status === 'fulfilled' ? 'made' : (one.reason as LibvirtError).outcome))).toEqual([
      'made',
      'unknown',
      'unknown',
      'unknown',
      'not sent',
    ])
    expect(host.isUp).toBe(true)
    const again = copy()
    await eventually('a copy on a new connection', () => copies.length === 5 || undefined)
    copies[4]?.peer.reply(copies[4].call, createFrom.result, volume)
    expect(await again).toEqual(volume)
    await host.close()
    await expect(copy()).rejects.toMatchObject({ outcome: 'not sent' })
    await eventually('all connections to close', () => daemon.peers.every(({ socket }) => socket.destroyed) || undefined)
  })

  test('a stream has a connection of its own, which closes with it', async () => {
    const { download } = areas.volumes
    daemon.on(download, (call, peer) => {
      peer.reply(call)
      peer.packet(call, Status.continue, Buffer.alloc(3_000_000))
    })
    const host = start()
    await host.whenUp()
    const stream = await host.volumes.download({ volume: { pool: 'p', name: 'v', key: 'k' } })
    expect(daemon.peers.length).toBe(4)
    expect(await host.domains.listAll()).toEqual([domain])
    stream.destroy()
    await eventually('its connection to close', () => daemon.peers[3]?.socket.destroyed || undefined)
  })

  test('closing ends everything, even while there is no daemon', async () => {
    await daemon.vanish()
    const host = start()
    await expect(host.whenUp(50)).rejects.toMatchObject({ outcome: 'not sent', message: expect.stringContaining('cannot reach libvirtd') })
    const waiting = host.whenUp()
    await Promise.all([host.close(), expect(waiting).rejects.toThrow('it was closed')])
    await expect(host.domains.listAll()).rejects.toThrow(/connection is down/)
    await daemon.listen()
  })
})
