import { beforeEach, describe, expect, test } from 'vitest'
import type { Driver } from './driver.ts'
import { createDriverPool, type HostRef } from './pool.ts'

const hosts = new Map<string, HostRef>()
let opened: string[]
let closed: string[]

const factory = ({ id, uri }: HostRef): Driver => {
  opened.push(uri)
  return { hostId: id, close: () => Promise.resolve(void closed.push(uri)) } as Driver
}

const pool = () => createDriverPool({ factories: { simulated: factory }, lookup: (hostId) => Promise.resolve(hosts.get(hostId)) })

beforeEach(() => {
  opened = []
  closed = []
  hosts.clear()
  hosts.set('c1', { id: 'c1', driver: 'simulated', uri: 'simulated:///one' })
})

describe('the driver pool', () => {
  test('opens one driver per host, also when asked twice at once', async () => {
    const drivers = pool()
    const [first, second] = await Promise.all([drivers.get('c1'), drivers.get('c1')])
    expect(first).toBe(second)
    expect(opened).toEqual(['simulated:///one'])
  })

  test('looks a host up again after it was changed', async () => {
    const drivers = pool()
    await drivers.get('c1')
    hosts.set('c1', { id: 'c1', driver: 'simulated', uri: 'simulated:///two' })
    await drivers.forget('c1')
    await drivers.get('c1')
    expect({ opened, closed }).toEqual({ opened: ['simulated:///one', 'simulated:///two'], closed: ['simulated:///one'] })
  })

  test('does not remember a host that was unknown', async () => {
    const drivers = pool()
    await expect(drivers.get('c2')).rejects.toThrow('There is no host c2')
    hosts.set('c2', { id: 'c2', driver: 'simulated', uri: 'simulated:///late' })
    expect((await drivers.get('c2')).hostId).toBe('c2')
  })

  test('says which driver is missing', async () => {
    hosts.set('c3', { id: 'c3', driver: 'libvirt', uri: 'qemu:///system' })
    await expect(pool().get('c3')).rejects.toThrow('needs the libvirt driver')
  })

  test('closes every driver it opened', async () => {
    const drivers = pool()
    await drivers.get('c1')
    await drivers.get('unknown').catch(() => undefined)
    await drivers.close()
    expect(closed).toEqual(['simulated:///one'])
  })
})
