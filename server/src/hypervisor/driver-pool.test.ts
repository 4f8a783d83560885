import { beforeEach, describe, expect, test } from 'vitest'
import type { Driver } from './driver.ts'
import { createDriverPool, type HostRef } from './driver-pool.ts'

const hosts = new Map<string, HostRef>()
let opened: string[]
let closed: string[]

const factory = ({ id, uri }: HostRef): Driver => {
  opened.push(uri)
  return { hostId: id, close: () => Promise.resolve(void closed.push(uri)) } as Driver
}

const pool = (idleMs?: number) =>
  createDriverPool({
    factories: { simulated: factory },
    lookup: (hostId) => Promise.resolve(hosts.get(hostId)),
    ...(idleMs !== undefined && { idleMs }),
  })
const moveTo = (uri: string): HostRef => {
  const moved: HostRef = { id: 'c1', driver: 'simulated', uri }
  hosts.set('c1', moved)
  return moved
}

beforeEach(() => {
  opened = []
  closed = []
  hosts.clear()
  hosts.set('c1', { id: 'c1', driver: 'simulated', uri: 'simulated:///one' })
})

describe('the driver pool', () => {
  test('opens one driver per host, also for concurrent calls', async () => {
    const drivers = pool()
    const [first, second] = await Promise.all([drivers.get('c1'), drivers.get('c1')])
    expect(first).toBe(second)
    expect(opened).toEqual(['simulated:///one'])
  })

  test('uses the new URI of a host at once, and closes the old driver', async () => {
    const drivers = pool()
    const before = await drivers.get('c1')
    moveTo('simulated:///two')
    const [after, again] = await Promise.all([drivers.get('c1'), drivers.get('c1')])
    expect([after === before, after === again]).toEqual([false, true])
    expect({ opened, closed }).toEqual({ opened: ['simulated:///one', 'simulated:///two'], closed: ['simulated:///one'] })
  })

  test('prunes drivers with an old URI, and no others', async () => {
    const drivers = pool()
    const before = await drivers.get('c1')
    drivers.prune([...hosts.values()])
    expect(await drivers.get('c1')).toBe(before)
    drivers.prune([moveTo('simulated:///two')])
    await drivers.close()
    expect({ opened, closed }).toEqual({ opened: ['simulated:///one'], closed: ['simulated:///one'] })
  })

  test('prunes a removed host once it was not used for a while', async () => {
    const [patient, hasty] = [pool(60_000), pool(0)]
    const kept = await patient.get('c1')
    patient.prune([])
    expect(await patient.get('c1')).toBe(kept)
    await hasty.get('c1')
    hasty.prune([])
    await hasty.close()
    expect(closed).toEqual(['simulated:///one'])
  })

  test('closes the driver of a host that became unknown', async () => {
    const drivers = pool()
    await drivers.get('c1')
    hosts.clear()
    await expect(drivers.get('c1')).rejects.toThrow('There is no host c1')
    await drivers.close()
    expect(closed).toEqual(['simulated:///one'])
  })

  test('does not cache unknown hosts', async () => {
    const drivers = pool()
    await expect(drivers.get('c2')).rejects.toThrow('There is no host c2')
    hosts.set('c2', { id: 'c2', driver: 'simulated', uri: 'simulated:///late' })
    expect((await drivers.get('c2')).hostId).toBe('c2')
  })

  test('names the missing driver', async () => {
    hosts.set('c3', { id: 'c3', driver: 'libvirt', uri: 'qemu:///system' })
    await expect(pool().get('c3')).rejects.toThrow('needs the libvirt driver')
  })

  test('closes every driver it opened', async () => {
    const drivers = pool()
    await drivers.get('c1')
    await drivers.get('unknown').catch(() => undefined)
    const late = drivers.get('c1')
    await drivers.close()
    await expect(late).rejects.toThrow('has ended its work')
    expect({ opened, closed }).toEqual({ opened: ['simulated:///one'], closed: ['simulated:///one'] })
  })
})
