// The product on a database that fails over: two APIs and two workers on three machines with PostgreSQL, by the files of ops/ha. Whatever is killed,
// hangs or is cut off under load: what was acknowledged exists once, and nothing is missing in event streams and webhooks.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sleep } from '../src/kernel/clock.ts'
import { CLIENTS, startCustomerLoad, type CustomerLoad } from './customer-load.ts'
import { missingForDatabaseCluster, startDatabaseCluster, type DatabaseCluster } from './database-cluster.ts'
import { fleet, type Fleet } from './fleet.ts'
import { freePort } from './free-port.ts'
import { berthdJson, eventually, type Service } from './processes.ts'

const TIMEOUT_MS = 300_000
/** Without an acknowledged write: where a machine is gone or hangs, and where a process is gone. */
const [MACHINE_SECONDS, PROCESS_SECONDS] = [30, 5]
/** More than every one of them. */
const RECOVERED_MS = 90_000
/** Load before each disturbance. */
const REST_MS = 3_000

describeIf(missingForDatabaseCluster())('a control plane on three databases', { timeout: TIMEOUT_MS }, async () => {
  const ports = [await freePort(), await freePort()]
  let cluster: DatabaseCluster
  let product: Fleet
  let [api, worker]: Service[] = []
  let load: CustomerLoad
  const startApi = (number: number): Promise<Service> => product.start('api', { BERTH_PORT: ports[number]! })

  beforeAll(async () => {
    cluster = await startDatabaseCluster([`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`])
    const settings = { BERTH_DATABASE_URL: cluster.url, BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' }
    await berthdJson(settings, 'migrate')
    product = await fleet(settings)
    const started = await Promise.all([startApi(0), startApi(1), product.start('worker'), product.start('worker')])
    ;[api, , worker] = started
    load = await startCustomerLoad(product, cluster.apiUrl)
  }, TIMEOUT_MS)
  afterAll(async () => {
    await load?.stop()
    await cluster?.close()
  }, TIMEOUT_MS)

  /** Waits until orders are acknowledged again; returns for how many seconds none was. */
  async function disturb(what: string, act: () => Promise<unknown>, undo?: () => Promise<unknown>): Promise<number> {
    await sleep(REST_MS)
    load.resetGap()
    const before = load.acknowledged.size
    let gapMs: number
    await act()
    try {
      await eventually(async () => load.acknowledged.size >= before + 2 * CLIENTS && load.sinceAcknowledgedMs() < 1_000, RECOVERED_MS)
    } finally {
      gapMs = load.longestGapMs()
      console.log(`${what}: ${(gapMs / 1000).toFixed(1)} s without an acknowledged write`)
      await undo?.()
      await eventually(() => cluster.isWhole(), TIMEOUT_MS)
    }
    return gapMs / 1000
  }

  test('goes on when the postmaster of the primary is killed', async () => {
    expect(await disturb('postmaster killed', async () => (await cluster.primary()).killPostmaster())).toBeLessThan(PROCESS_SECONDS)
  })

  test('goes on when the machine of the primary is gone', async () => {
    const machine = await cluster.primary()
    expect(await disturb('machine of the primary killed', machine.kill, machine.start)).toBeLessThan(MACHINE_SECONDS)
  })

  test('goes on when Patroni of the primary hangs', async () => {
    const machine = await cluster.primary()
    const isReplaced = async (): Promise<boolean> => (await cluster.primary()) !== machine
    const freeze = async (): Promise<void> => {
      await machine.freezePatroni()
      await eventually(isReplaced, RECOVERED_MS)
    }
    expect(await disturb('Patroni of the primary frozen', freeze, machine.thawPatroni)).toBeLessThan(MACHINE_SECONDS)
  })

  test('goes on when the machine of the primary is cut off', async () => {
    const machine = await cluster.primary()
    expect(await disturb('machine of the primary cut off', machine.cutOff, machine.reconnect)).toBeLessThan(MACHINE_SECONDS)
  })

  test('goes on when HAProxy, an API and a worker are killed', async () => {
    expect(await disturb('HAProxy killed', cluster.restartHaproxy)).toBeLessThan(PROCESS_SECONDS)
    expect(await disturb('an API killed', () => api!.kill('SIGKILL'))).toBeLessThan(PROCESS_SECONDS)
    expect(await disturb('a worker killed', () => worker!.kill('SIGKILL'))).toBeLessThan(PROCESS_SECONDS)
  })

  test('has everything that was acknowledged once, and no gap in streams and webhooks', async () => {
    await load.requireNothingLost()
    expect(load.acknowledged.size).toBeGreaterThan(CLIENTS)
  })
})
