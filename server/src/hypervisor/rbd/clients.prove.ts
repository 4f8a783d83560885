// Who has images of a real pool open, and what becomes of a client that is blocked.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { env } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForCeph, startCeph, type CephCluster } from '../../../test/ceph.ts'
import { newId } from '../../kernel/ids.ts'
import { expectKind } from '../conformance/fixture.ts'
import { blockedClient } from '../storage-pool.ts'
import type { RbdBackend } from './access.ts'
import { openRbdPool, type RbdPool } from './pool.ts'

const RBD = 'rbd'
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

describeIf(missingForCeph())('clients of a pool', { timeout: 120_000 }, () => {
  let cluster: CephCluster
  let folder: string
  let backend: RbdBackend
  let pool: RbdPool

  beforeAll(async () => {
    cluster = await startCeph()
    folder = await mkdtemp(join(tmpdir(), 'berth-clients-'))
    backend = await cluster.addPool()
    pool = openRbdPool(backend, folder)
    await pool.listOwnerIds(soon())
  }, 120_000)
  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true })
  })

  /** A process that writes to the image without end. */
  const writer = (image: string) => {
    const access = [`--conf=${join(folder, `${backend.id}.conf`)}`, `--id=${backend.user}`]
    const args = ['bench', '--io-type=write', '--io-size=4096', '--io-threads=1', '--io-total=100G', `${backend.pool}/${image}`]
    const child = spawn(RBD, [...access, ...args], { env, stdio: 'ignore' })
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    return { child, ended }
  }

  test('are known by image, and write nothing once they are blocked', async () => {
    const [vmId, volumeId, idle] = [newId(), newId(), newId()]
    for (const image of [`vm-${vmId}-3`, `volume-${volumeId}`, `vm-${idle}-1`])
      await cluster.rbd('create', '--size=64', `${backend.pool}/${image}`)
    const [first, second] = [writer(`vm-${vmId}-3`), writer(`volume-${volumeId}`)]
    const clients = () => pool.listClients([vmId, volumeId, idle, 'cunknown'], soon())
    await expect.poll(async () => (await clients()).length, { timeout: 30_000 }).toBe(2)
    const found = await clients()
    expect(new Map(found.map(({ ownerId, isWatching }) => [ownerId, isWatching]))).toEqual(
      new Map([
        [vmId, true],
        [volumeId, true],
      ]),
    )
    const one = found.find(({ ownerId }) => ownerId === vmId)!
    expect([one.address, one.nonce > 0]).toEqual(['127.0.0.1', true])
    expect(await pool.listServers(soon())).toContain('127.0.0.1')

    const blocked = blockedClient(one.address, one.nonce)
    await pool.ensureBlocked([blocked], soon())
    await pool.ensureBlocked([blocked], soon())
    expect(await first.ended).not.toBe(0)
    expect(await pool.listBlocked([blocked, blockedClient('10.9.9.9', 0)], soon())).toEqual([blocked])
    expect((await clients()).filter(({ ownerId, isWatching }) => ownerId === vmId && isWatching)).toEqual([])
    expect(second.child.exitCode).toBeNull()
    await pool.ensureUnblocked([blocked, blockedClient('10.9.9.9', 0)], soon())
    expect(await pool.listBlocked([blocked], soon())).toEqual([])
    second.child.kill('SIGKILL')
    await second.ended
    // Killed, it holds the lock of its image until somebody takes it over.
    const left = (await clients()).filter(({ ownerId }) => ownerId === volumeId)
    expect(left.map(({ address }) => address)).toEqual(['127.0.0.1'])
  })

  test('at an address are all blocked by the address alone', async () => {
    const [vmId, whole] = [newId(), blockedClient('127.0.0.2', 0)]
    await pool.ensureBlocked([whole], soon())
    expect(await cluster.ceph('osd', 'blocklist', 'ls')).toContain('127.0.0.2:0/0 ')
    expect(await pool.listClients([vmId], soon())).toEqual([])
    await pool.ensureUnblocked([whole], soon())
  })

  test('stay blocked where the user of the pool may only block', async () => {
    await cluster.ceph('auth', 'caps', `client.${backend.user}`, 'mon', 'profile rbd', 'osd', `profile rbd pool=${backend.pool}`)
    const client = blockedClient('10.9.9.8', 0)
    await pool.ensureBlocked([client], soon())
    await expectKind(pool.ensureUnblocked([client], soon()), 'permanent')
    expect(await pool.listBlocked([client], soon())).toEqual([client])
  })
})
