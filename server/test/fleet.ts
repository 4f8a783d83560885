// The product as several processes on one database: an API and a worker of `berthd` that tests kill, and access to what they share.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { openCore } from '../src/compose.ts'
import { readConfig } from '../src/config.ts'
import { createAccount, createToken } from '../src/features/accounts/service.ts'
import { addPool } from '../src/features/hosts/public-addresses.ts'
import { credit } from '../src/features/wallet/service.ts'
import { checkInvariants, formatFailures } from '../src/invariants/check.ts'
import { manualClock, stopwatch, systemClock } from '../src/kernel/clock.ts'
import { sql, type Db } from '../src/kernel/database/db.ts'
import { createLog } from '../src/kernel/log.ts'
import { testDatabase } from './harness.ts'
import { controlOf, givenRegion } from './hosts.ts'
import { eventually, service, type Service, type Settings } from './processes.ts'

/** All invariants hold again within this time after a crash: an Idempotency-Key that it left is held for a minute, and pruned in the next. */
const WELL_AGAIN_MS = 150_000

export async function fleet(more: Settings = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-fleet-'))
  const url = more['BERTH_DATABASE_URL'] ?? (await testDatabase())
  const settings: Settings = {
    BERTH_DATABASE_URL: url,
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    BERTH_WORKER_CONCURRENCY: '100',
    BERTH_LOG_LEVEL: 'info',
    BERTH_BACKUP_PROOF_SHARE: '0', // a guest more would make every proof slower
    ...more,
  }
  const core = await openCore(readConfig(settings), url, createLog({ level: 'silent', pretty: false }), { worker: false })
  const { db } = core.deps
  await db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const running = new Set<Service>()
  afterAll(async () => {
    await Promise.all([...running].map((each) => each.kill('SIGKILL')))
    await core.close()
    await rm(dataDir, { recursive: true })
  })

  const start = async (role: 'api' | 'worker', own: Settings = {}, berthd?: string): Promise<Service> => {
    const started = await service({ ...settings, ...own }, role, berthd)
    running.add(started)
    void started.ended.then(() => running.delete(started))
    return started
  }

  const account = (money: bigint, email = 'ada@example.com') =>
    db.tx(async (tx) => {
      const now = systemClock.now()
      const { id } = await createAccount(tx, now, { email })
      const entry = { type: 'CREDIT', description: '', referenceType: 'ADMIN', referenceId: id, currency: 'USD' } as const
      await credit(tx, core.deps, id, money, entry)
      const { token } = await createToken(tx, now, id, { name: 'test', scopes: ['*'], requestsPerMinute: 1_000_000 })
      return { accountId: id, token }
    })

  const openActions = () =>
    db.many<{ what: string }>(sql`
      select format('%s %s, attempt %s, step %s, lease until %s, next attempt at %s', r.label, r.status, r.attempt,
        (select s.name || ' try ' || s.tries from workflow_steps s where s.run_id = r.id and s.status = 'RUNNING' limit 1),
        r.lease_until, r.next_attempt_at) as what
      from workflow_runs r where completed_at is null or compensating order by id`)

  /** Waits until all actions have ended; returns how long that took. */
  const ended = async (withinMs: number): Promise<number> => {
    const elapsed = stopwatch()
    await eventually(async () => (await openActions()).length === 0, withinMs).catch(async () => {
      const open = (await openActions()).map(({ what }) => what).join('\n')
      throw new Error(`At ${systemClock.now().toISOString()}, after ${withinMs / 1000} s, there are still open actions:\n${open}`)
    })
    return elapsed()
  }

  /** Invariant violations after the time for repairs. */
  const broken = async (): Promise<string> => {
    let last = ''
    const whole = async (): Promise<boolean> => (last = formatFailures(await checkInvariants(core.deps))) === ''
    await eventually(whole, WELL_AGAIN_MS).catch(() => undefined)
    return last
  }

  let regions = 0
  /** Its own region with one host, for faults of their own. */
  const region = async (name: string) => {
    const { region_id: regionId, id: hostId } = await givenRegion({ db, clock: manualClock() }, name)
    const net = `10.66.${++regions}`
    await db.tx((tx) => addPool(tx, systemClock.now(), { regionId, hostId: null, cidr: `${net}.0/24`, gateway: `${net}.1`, dns: [] }))
    const faultsOf = (id: string) => controlOf({ db, clock: manualClock() }, id).faults
    return { regionId, faults: { host: faultsOf(hostId), network: faultsOf(regionId) } }
  }

  return { settings, db, core, start, account, ended, broken, region }
}

export type Fleet = Awaited<ReturnType<typeof fleet>>

interface Answer {
  status: number
  error?: string
  data: { id: string; actionId: string; vm: { id: string } }
}

/** A JSON client of the API, at its current address. */
export const clientOf = (token: string, api: () => Service) => ({
  async send(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const headers = { 'x-api-key': token, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) }
    const response = await fetch(`${api().url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
  },
})

/** Waits for the action, which has to succeed. */
export async function orderCompleted(
  db: Db,
  { send }: ReturnType<typeof clientOf>,
  withinMs: number,
  ...order: [method: string, path: string, body?: object]
): Promise<Answer['data']> {
  const { status, error, data } = await send(...order)
  expect([status, error]).toEqual([202, undefined])
  const found = await eventually(async () => {
    const run = await db.one<{ status: string; error: unknown }>(sql`select status, error from workflow_runs where id = ${data.actionId}`)
    return !['PENDING', 'RUNNING'].includes(run.status) && run
  }, withinMs)
  expect(found).toMatchObject({ status: 'COMPLETED' })
  return data
}
