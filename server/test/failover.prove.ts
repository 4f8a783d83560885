// The product on a database that fails over: two APIs and two workers on three machines with PostgreSQL, by the files of ops/ha. Whatever is killed,
// hangs or is cut off under load: what was acknowledged exists once, and nothing is missing in event streams and webhooks.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { Berth } from '../../sdk/src/index.ts'
import { confirmPayment } from '../src/features/payments/service.ts'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { ApiError } from '../src/kernel/errors.ts'
import { missingForDatabaseCluster, startDatabaseCluster, type DatabaseCluster } from './database-cluster.ts'
import { fleet, type Fleet } from './fleet.ts'
import { freePort } from './free-port.ts'
import { berthdJson, eventually, type Service } from './processes.ts'
import { receiver } from './receiver.ts'

const TIMEOUT_MS = 300_000
const CLIENTS = 4
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
  let accountId = ''
  let berth: Berth

  /** Of everything that was acknowledged: the VM by the key of its order. */
  const acknowledged = new Map<string, string>()
  const paid = new Set<string>()
  const streamed: string[] = []
  const reconnects: string[] = []
  const stop = new AbortController()
  let lastAcknowledged = stopwatch()
  let longestGapMs = 0
  let load: Promise<unknown>
  const hook = await receiver()

  const startApi = (number: number): Promise<Service> => product.start('api', { BERTH_PORT: ports[number]! })
  /** Repeats what nobody answered, or a server in trouble, until it is acknowledged; undefined at the end of the load. */
  async function acknowledge<T>(send: () => Promise<T>): Promise<T | undefined> {
    while (!stop.signal.aborted) {
      try {
        const answer = await send()
        longestGapMs = Math.max(longestGapMs, lastAcknowledged())
        lastAcknowledged = stopwatch()
        return answer
      } catch (error) {
        const { status } = error as { status?: number }
        if (status !== undefined && status < 500 && status !== 409) throw error
        await sleep(100)
      }
    }
    return undefined
  }
  const once = (key: string) => ({ idempotencyKey: key, timeoutMs: 10_000, maxRetries: 0 })

  beforeAll(async () => {
    cluster = await startDatabaseCluster([`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`])
    const settings = { BERTH_DATABASE_URL: cluster.url, BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true', BERTH_PAYMENTS: 'manual' }
    await berthdJson(settings, 'migrate')
    product = await fleet(settings)
    const { db } = product
    const started = await Promise.all([startApi(0), startApi(1), product.start('worker'), product.start('worker')])
    ;[api, , worker] = started
    const { token, ...account } = await product.account(100_000_000n)
    accountId = account.accountId
    berth = new Berth({ baseUrl: cluster.apiUrl, token })
    await eventually(
      () =>
        berth.account.get().then(
          () => true,
          () => false,
        ),
      TIMEOUT_MS,
    )
    await berth.webhooks.create({ url: hook.url, events: ['vm.provisioning'] })
    const input = await db.one<{ regionId: string; osTemplateId: string; planId: string }>(sql`
      select (select id from regions where slug = 'fra1') as "regionId", (select id from os_templates where slug = 'debian-12') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    const order = async (_: unknown, number: number): Promise<void> => {
      for (let i = 0; !stop.signal.aborted; i++) {
        const key = `client-${number}-${i}`
        const ordered = await acknowledge(() => berth.vms.create({ ...input, hostname: key }, once(key)))
        if (ordered) acknowledged.set(key, ordered.vm.id)
        await sleep(200)
      }
    }
    const pay = async (): Promise<void> => {
      for (let i = 0; !stop.signal.aborted; i++) {
        const deposit = await acknowledge(() => berth.deposits.create({ amount: '5.00' }, once(`deposit-${i}`)))
        // A repetition finds it in the wallet already.
        const confirmed = deposit && (await acknowledge(() => confirm(deposit.id).catch(unlessPaid)))
        if (confirmed) paid.add(deposit.id)
        await sleep(500)
      }
    }
    const confirm = (id: string) => db.tx((tx) => confirmPayment(tx, product.core.deps, id, null)).then(() => true)
    const unlessPaid = (error: unknown): boolean => {
      if (error instanceof ApiError && error.code === 'invalid_state') return true
      throw error
    }
    const stream = async (): Promise<void> => {
      const options = { after: '0', signal: stop.signal, onReconnect: (reason: Error) => void reconnects.push(reason.message) }
      for await (const { id } of berth.events.stream(options)) streamed.push(id)
    }
    load = Promise.allSettled([stream(), pay(), ...Array.from({ length: CLIENTS }, order)])
  }, TIMEOUT_MS)
  afterAll(async () => {
    stop.abort()
    await load
    await cluster?.close()
  }, TIMEOUT_MS)

  /** Waits until orders are acknowledged again; returns for how many seconds none was. */
  async function disturb(what: string, act: () => Promise<unknown>, undo?: () => Promise<unknown>): Promise<number> {
    await sleep(REST_MS)
    longestGapMs = 0
    const before = acknowledged.size
    await act()
    try {
      await eventually(async () => acknowledged.size >= before + 2 * CLIENTS && lastAcknowledged() < 1_000, RECOVERED_MS)
    } finally {
      console.log(`${what}: ${(Math.max(longestGapMs, lastAcknowledged()) / 1000).toFixed(1)} s without an acknowledged write`)
      await undo?.()
      await eventually(() => cluster.isWhole(), TIMEOUT_MS)
    }
    return longestGapMs / 1000
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
    const { db } = product
    const keys = [...acknowledged.keys()]
    stop.abort()
    await load
    await product.ended(TIMEOUT_MS)
    const vms = await db.many<{ id: string; hostname: string }>(sql`select id, hostname from vms where account_id = ${accountId}`)
    expect(new Set(vms.map(({ hostname }) => hostname)).size).toBe(vms.length)
    const byKey = new Map(vms.map(({ id, hostname }) => [hostname, id]))
    expect(keys.filter((key) => byKey.get(key) !== acknowledged.get(key))).toEqual([])
    const charges = await db.one<{ count: number }>(
      sql`select count(*)::int as count from wallet_transactions where account_id = ${accountId} and type = 'VM_CHARGE'`,
    )
    expect(charges.count).toBe(vms.length)
    const deposits = await db.many<{ id: string }>(
      sql`select reference_id as id from wallet_transactions where account_id = ${accountId} and type = 'DEPOSIT'`,
    )
    expect(new Set(deposits.map(({ id }) => id)).size).toBe(deposits.length)
    expect([...paid].filter((id) => !deposits.some((deposit) => deposit.id === id))).toEqual([])
    const events = await db.many<{ id: string; type: string }>(
      sql`select id, type from events where account_id = ${accountId} order by number`,
    )
    expect(new Set(streamed).size).toBe(streamed.length)
    expect(streamed).toEqual(events.slice(0, streamed.length).map(({ id }) => id))
    const sent = events.filter(({ type }) => type === 'vm.provisioning').map(({ id }) => id)
    const received = () => new Set(hook.received.map(({ body }) => (JSON.parse(body) as { id: string }).id))
    await eventually(async () => sent.every((id) => received().has(id)), TIMEOUT_MS)
    console.log(
      `${keys.length} VMs, ${paid.size} payments, ${streamed.length} of ${events.length} events streamed with ${reconnects.length} reconnects`,
    )
    expect(await product.broken()).toBe('')
  })
})
