// A daemon that closes after two seconds of silence, and a client that does the same.
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Connection, Host, quick, xdr } from '../src/index.ts'
import type { Sandbox } from './sandboxed-libvirtd.ts'
import type { Sandboxes } from './sandbox-fleet.ts'
import { missingForSandbox } from './command.ts'
import { describeIf } from './describe-if.ts'
import { eventually } from './eventually.ts'
import { openSandboxes, startPool } from './fixture.ts'

const MiB = 1024 * 1024

describeIf(missingForSandbox())('keepalive with a real libvirtd', () => {
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  beforeAll(async () => {
    ;({ sandboxes, sandbox } = await openSandboxes(1, { libvirtdConf: 'keepalive_interval = 1\nkeepalive_count = 1\n' }))
  }, 120_000)
  afterAll(() => sandboxes.close())

  const passes = (ms: number) => {
    const start = Date.now()
    return eventually(`${ms} ms`, () => Date.now() - start > ms || undefined)
  }

  test.each([true, false])('an idle connection stays, watched by the daemon: %s', async (watched) => {
    const connection = await Connection.open({ endpoint: sandboxes.tls(sandbox), keepalive: { intervalMs: 300, count: 2, watched } })
    await passes(5000)
    expect(await connection.connect.getHostname()).toBe('h1')
    await connection.close()
  })

  test('a download may rest for longer than the daemon bears silence', async () => {
    const host = await new Host({ endpoint: sandboxes.tls(sandbox), keepalive: { intervalMs: 300, count: 2 } }).whenUp()
    const pool = await startPool(host, 'resting')
    const xml = `<volume><name>v</name><capacity>${32 * MiB}</capacity></volume>`
    const stream = await host.volumes.download({ volume: await host.volumes.create({ pool, xml }) })
    await passes(5000)
    expect((await buffer(stream)).length).toBe(32 * MiB)
    await host.close()
  })

  test('a daemon that stands still is noticed', async () => {
    const connection = await Connection.open({ endpoint: sandboxes.tls(sandbox), keepalive: { intervalMs: 200, count: 2 } })
    await sandbox.signalDaemon('STOP')
    await expect(connection.connect.getHostname()).rejects.toMatchObject({ name: 'ConnectionLostError', outcome: 'unknown' })
    await sandbox.signalDaemon('CONT')
  })

  test('a procedure of one’s own takes one line', async () => {
    const isSecure = quick(149, 'CONNECT_IS_SECURE', {}, xdr.int)
    const connection = await Connection.open({ endpoint: sandboxes.tls(sandbox) })
    expect(await connection.call(isSecure, {})).toBe(1)
    await connection.close()
  })
})
