import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingCommands } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import type { Database } from '../src/index.ts'
import { insert, select, Servers, wait, type Server, type Tables } from './server.ts'

describeIf(missingCommands('ovsdb-server', 'ovsdb-tool', 'ovs-appctl'))('a database on a cluster of three', { timeout: 120_000 }, () => {
  let servers: Servers
  let members: Server[]
  beforeAll(async () => {
    servers = await Servers.open()
    members = await servers.cluster()
  })
  afterAll(() => servers?.close())

  test('only the leader is used, and writes go on when it is killed: none is lost or doubled', async () => {
    const used: string[] = []
    const db = servers.connect(members, { onUp: (endpoint) => used.push(endpoint) })
    const { tables } = await db.monitor({ Switch: ['name'] })
    const first = await servers.leader(members)
    await db.transact([insert('Switch', { name: 'before' })])
    expect(used).toEqual([`unix:${first.socket}`])

    const written: string[] = []
    let isStopped = false
    const writer = (async () => {
      for (let i = 0; !isStopped; i++) written.push(await write(db, `w${i}`))
    })()
    await expect.poll(() => written.length).toBeGreaterThan(5)
    await first.kill()
    const before = written.length
    await expect.poll(() => written.length, { timeout: 60_000 }).toBeGreaterThan(before + 5)
    isStopped = true
    await writer

    const second = await servers.leader(members)
    expect(second).not.toBe(first)
    expect(used.at(-1)).toBe(`unix:${second.socket}`)
    const [{ rows } = {}] = await db.transact([select('Switch', [], ['name'])])
    const expected = ['before', ...written].sort()
    expect(rows!.map(({ name }) => name as string).sort()).toEqual(expected)
    await expect.poll(() => [...tables.Switch.values()].map(({ name }) => name).sort()).toEqual(expected)
    await first.start()
  })

  test('a leader that hands over is left for the new one', async () => {
    const used: string[] = []
    const db = servers.connect(members, { onUp: (endpoint) => used.push(endpoint) })
    await db.whenUp()
    const old = await servers.leader(members)
    await servers.handOver(old)
    await expect.poll(() => used.length, { timeout: 30_000 }).toBeGreaterThan(1)
    await db.transact([insert('Switch', { name: 'after-handover' })])
    await expect.poll(async () => used.at(-1) === `unix:${(await servers.leader(members)).socket}`).toBe(true)
  })
})

/** Repeated until it is known to have happened; the wait refuses a second time. */
async function write(db: Database<Tables>, name: string): Promise<string> {
  for (;;) {
    try {
      await db.transact([wait('Switch', [['name', '==', name]], '==', [], { columns: ['name'] }), insert('Switch', { name })], {
        timeoutMs: 20_000,
      })
      return name
    } catch (error) {
      const { outcome, code } = error as { outcome?: string; code?: string }
      if (code === 'timed out' || code === 'constraint violation') return name // an earlier try had happened
      if (outcome !== 'unknown' && outcome !== 'not sent') throw error
    }
  }
}
