// Three customers, two hosts and their resources: the state that the operations of a seed act on.
import type { Random } from './seeded.ts'
import { sql } from '../../src/kernel/database/db.ts'
import { addPool } from '../../src/features/hosts/public-addresses.ts'
import { resumeRun } from '../../src/workflow/executor.ts'
import { AttemptLostError } from '../../src/workflow/run-store.ts'
import type { Answer, TestApp } from '../harness.ts'
import { controlOf, givenHost } from '../hosts.ts'
import { restMaker } from '../quiesce.ts'
import { testRunner } from '../run-workflows.ts'

export type Customer = Awaited<ReturnType<TestApp['given']['customer']>>
type Kind = 'vm' | 'network' | 'firewall' | 'key' | 'snapshot' | 'backup' | 'webhook'

export interface Thing {
  id: string
  owner: Customer
  /** Of a snapshot or backup. */
  vmId: string
}

export const START = new Date('2026-01-15T12:00:00Z')
const ADDRESSES = '10.66.0.0/25'

class Killed extends AttemptLostError {}

export type Fixture = Awaited<ReturnType<typeof newFixture>>

/** Deletes everything of the previous seed except the catalog. */
async function cleanSlate({ db, clock, host }: TestApp): Promise<void> {
  clock.set(START)
  const { tables } = await db.one<{ tables: string }>(sql`
    select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables from pg_tables
    where schemaname in ('public', 'simulated') and format('%s.%s', schemaname, tablename) not in (
      'public.regions', 'public.plans', 'public.os_templates', 'public.catalog_values', 'public.hosts', 'public.accounts', 'simulated.hosts',
      'public.schema_migrations')`)
  await db.raw(`truncate ${tables} restart identity`)
  await db.run(sql`delete from accounts`) // templates refer to them, so they cannot be truncated
  await db.run(sql`
    update hosts set vcpu_used = 0, ram_used_mib = 0, disk_used_gib = 0, unreachable_since = null, reachable_since = null, created_at = ${START}`)
  await db.run(sql`update simulated.hosts set disk_used_bytes = 0, is_full = false, is_gone = false`)
  const pool = { regionId: host.region_id, hostId: null, cidr: ADDRESSES, gateway: '10.66.0.1', dns: [] }
  await db.tx((tx) => addPool(tx, clock.now(), pool))
}

export async function newFixture(app: TestApp, random: Random) {
  const { db, deps, clock } = app
  await cleanSlate(app)
  const hosts = [app.host, await givenHost(app, 'second')]
  const customers: Customer[] = []
  for (let number = 0; number < 3; number++) customers.push(await app.given.customer({ credit: `${random.int(5, 200)}.00` }))
  const controls = hosts.map((host) => controlOf(app, host.id))
  const network = controlOf(app, app.host.region_id)
  const things = new Map<Kind, Thing[]>()
  const runner = testRunner(deps)
  const trace: string[] = []

  const openRuns = () =>
    db.many<{ id: string; label: string; due: boolean }>(sql`
      select id, label, next_attempt_at <= ${clock.now()} as due from workflow_runs
      where status in ('PENDING', 'RUNNING') or compensating order by created_at, subject_id, label`)

  /** One attempt of every due run, sequentially. The worker crashes at the given checkpoint. */
  const work = async (diesAt = Infinity): Promise<string> => {
    let seen = 0
    let died = ''
    const checkpoint = (where: string): void => {
      if (died || ++seen < diesAt) return
      died = where
      throw new Killed(where)
    }
    const due = (await openRuns()).filter((run) => run.due)
    for (const { id } of died ? [] : due) {
      if (died) break
      await resumeRun({ ...runner, checkpoint }, id).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error
      })
    }
    return `${due.map(({ label }) => label).join(' ') || 'nothing'}${died && `, died at "${died}"`}`
  }

  /** A deleted resource is requested once more and then dropped. */
  const forget = (path: string): void => {
    for (const [kind, list] of things)
      things.set(
        kind,
        list.filter(({ id }) => !path.includes(id)),
      )
  }

  /** Until no run is open. The clock advances by the backoff, and reconcilers run in between. */
  const settle = async (): Promise<void> => {
    for (let round = 1; (await openRuns()).length > 0; round++) {
      if (round === 300) throw new Error('There are still open actions after 300 rounds')
      await work()
      clock.advance('8s')
      if (round % 8 === 0) await rest.reconcile()
    }
  }
  const rest = restMaker(deps, clock, settle)

  return {
    ...app,
    random,
    customers,
    hosts,
    controls,
    network,
    trace,
    work,
    settle,
    ...rest,
    customer: (): Customer => random.pick(customers)!,
    remember: (kind: Kind, thing: Thing): void => void things.set(kind, [...(things.get(kind) ?? []), thing]),
    /** Any resource ever created, deleted or not; mostly requested by its owner. */
    some: (kind: Kind): Thing | undefined => {
      const thing = random.pick(things.get(kind) ?? [])
      return thing && random.chance(0.03) ? { ...thing, owner: random.pick(customers)! } : thing
    },
    known: (kind: Kind, id: string): Thing | undefined => things.get(kind)?.find((each) => each.id === id),
    mine: (kind: Kind, owner: Customer): Thing | undefined => random.pick((things.get(kind) ?? []).filter((each) => each.owner === owner)),
    /** On the VM's host, if any. */
    controlAt: async (vmId: string) => {
      const row = await db.maybe<{ host_id: string | null }>(sql`select host_id from vms where id = ${vmId}`)
      return controls[hosts.findIndex(({ id }) => id === row?.host_id)]
    },
    /** No customer request may end in a server error. */
    send: async (owner: Customer, method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: unknown): Promise<Answer> => {
      const answer = await (method === 'get' || method === 'delete' ? owner[method](path) : owner[method](path, body))
      const code = answer.headers['x-error-code'] ?? ''
      if (answer.status >= 500 && code !== 'no_capacity')
        throw new Error(`${method} ${path} answered ${answer.status} ${code}: ${answer.body.error}`)
      if (answer.status === 404) forget(path)
      trace.push(`  ${method} ${path.replace(/c[0-9a-z]{24}/g, '…')} ${answer.status} ${code}`)
      return answer
    },
  }
}
