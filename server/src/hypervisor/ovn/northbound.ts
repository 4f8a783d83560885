// OVN's northbound database of a region, in which we write what networks shall be, and the southbound one, in which chassis report what is in
// force. Rows are written by object (replica.ts): all rows of an object change in one transaction.
import {
  CancelledError,
  ConnectionLostError,
  Database,
  operationsOn,
  OvsdbError,
  RefusedError,
  TimeoutError,
  type Endpoint,
  type Monitored,
  type Operation,
} from '@berth/ovsdb'
import type { Log } from '../../kernel/log.ts'
import { span } from '../../kernel/tracing.ts'
import { DriverError, type DriverErrorKind } from '../errors.ts'
import type { Chassis } from '../network-controller.ts'
import { inBatches } from './batches.ts'
import { planChange, type Inserted, type WantedRow } from './plan.ts'
import { ReplicaIndex } from './replica.ts'
import { NAT_PHYSICAL_NETWORK } from './public-rows.ts'
import { MONITORED, type Northbound, type Southbound } from './tables.ts'

export interface NorthboundOptions {
  northbound: readonly Endpoint[]
  southbound: readonly Endpoint[]
  log: Log
}

export interface NetworkDatabase {
  /** The object has these rows and no others. Resolves when the hosts have put it in force, if any differed. */
  ensure(object: string, rows: readonly WantedRow[], request: ChangeRequest): Promise<void>
  /** Carries out what `plan` makes of our rows, and plans again if another process has changed them meanwhile. */
  change(what: string, plan: Plan, request: ChangeRequest): Promise<void>
  /** Resolves when everything is known here that any process has written before. */
  catchUp(signal: AbortSignal): Promise<void>
  /** Our rows, as far as they are known here. */
  read<T>(look: (rows: ReplicaIndex) => T, signal: AbortSignal): Promise<T>
  /** The chassis that routers of private networks reach the outside through. */
  gateways(signal: AbortSignal): Promise<{ name: string; hostname: string }[]>
  /** Whether a chassis of each of these hosts confirms a new number within seconds; those without a chassis are left out. */
  probe(hosts: readonly string[], signal: AbortSignal): Promise<{ host: string; answers: boolean }[]>
  /** Those of these hosts. */
  chassis(hosts: readonly string[], signal: AbortSignal): Promise<Chassis[]>
  /** Resolves when a chassis has bound the port, and its flows are in place. */
  portUp(name: string, signal: AbortSignal): Promise<void>
  close(): void
}

/** Nothing is done if it is empty. The plans of one transaction share `inserted`. */
export type Plan = (rows: ReplicaIndex, inserted: Inserted) => Operation[]

export interface ChangeRequest {
  /** Names of the hosts that have to confirm. Others follow by themselves. */
  hosts: readonly string[]
  signal: AbortSignal
}

const SOUTHBOUND_COLUMNS = {
  Chassis: ['name', 'hostname', 'other_config', 'encaps'],
  Chassis_Private: ['name', 'nb_cfg', 'nb_cfg_timestamp'],
  Encap: ['type', 'ip'],
  Port_Binding: ['logical_port', 'chassis', 'up'],
} as const

const CALL_MS = 30_000
/** A living chassis confirms within a tenth of a second, on a busy machine within one. */
const PROBE_MS = 5_000
const ATTEMPTS = 5
const FAR_AHEAD = 2 ** 32

const { mutate, select } = operationsOn<Northbound>()

export function openNetworkDatabase({ northbound, southbound, log }: NorthboundOptions): NetworkDatabase {
  const report = (name: string) => ({
    onDown: (err: Error) => log.warn({ err, database: name }, 'OVN database connection lost'),
    onProblem: (err: Error) => log.error({ err, database: name }, 'OVN database listener failed'),
  })
  const north = new Database<Northbound>({ name: 'OVN_Northbound', endpoints: northbound, ...report('OVN_Northbound') })
  const south = new Database<Southbound>({ name: 'OVN_Southbound', endpoints: southbound, ...report('OVN_Southbound') })
  /** What is written for several at once is a span of the first. */
  const transact: typeof north.transact = (operations, options) =>
    span('ovsdb transact', { 'ovsdb.operations': operations.length }, () => north.transact(operations, options))
  const index = new ReplicaIndex()
  const wanted = once(() => north.monitor(MONITORED, (changes) => index.apply(changes), { timeoutMs: CALL_MS }))
  const reported = once(() => south.monitor(SOUTHBOUND_COLUMNS, undefined, { timeoutMs: CALL_MS }))

  /** Resolves to the number of the change, null where nothing differed. It is greater than `least`. */
  const write = async (asked: readonly Write[]): Promise<number | null> => {
    const replica = await wanted()
    const least = Math.max(...asked.map((each) => each.least))
    const signal = asked.length === 1 ? { signal: asked[0]!.signal } : {}
    for (let attempt = 1; ; attempt++) {
      const inserted: Inserted = new Map()
      const operations = asked.flatMap(({ plan }) => plan(index, inserted))
      if (operations.length === 0) return null
      const step = Math.max(least - numberOf(replica), 0) + 1
      const numbered = [...operations, mutate('NB_Global', [], [['nb_cfg', '+=', step]]), select('NB_Global', [], ['nb_cfg'])]
      try {
        const number = (await transact(numbered, { timeoutMs: CALL_MS, ...signal })).at(-1)!.rows![0]!['nb_cfg'] as number
        // The replica has what was written, so that the next change is planned on it.
        await replica.until('the change', () => numberOf(replica) >= number, { timeoutMs: CALL_MS, ...signal })
        return number
      } catch (error) {
        // Planned on a replica that was behind: another process has changed the object meanwhile.
        if (!(error instanceof RefusedError) || attempt === ATTEMPTS || asked.length > 1) throw error
        await replica.until('the change of another process', () => true, { timeoutMs: CALL_MS, ...signal })
        await new Promise((resolve) => setTimeout(resolve, 20 * attempt))
      }
    }
  }
  const sizeOf = ({ plan }: Write, inserted: Inserted): number => {
    try {
      return plan(index, inserted).length
    } catch {
      return 1 // it fails when it is written
    }
  }
  const writeInTurn = inBatches(write, sizeOf)

  /** By these hosts. A northbound database that was restored from a backup counts on from an older number. What is too far ahead is no number
   *  of ours: a chassis writes its own. */
  const lastConfirmed = async (hosts: readonly string[]): Promise<number> => {
    const [{ tables }, highest] = [await reported(), numberOf(await wanted()) + FAR_AHEAD]
    const names = new Set([...tables.Chassis.values()].filter(({ hostname }) => hosts.includes(hostname)).map(({ name }) => name))
    const own = [...tables.Chassis_Private.values()].filter(({ name, nb_cfg }) => names.has(name) && nb_cfg < highest)
    return own.reduce((last, { nb_cfg }) => Math.max(last, nb_cfg), 0)
  }

  /** Of these hosts, those whose chassis have not applied the number yet. */
  const pendingOf = async (number: number, hosts: readonly string[]): Promise<() => string[]> => {
    const { tables } = await reported()
    return () => {
      const applied = new Map([...tables.Chassis_Private.values()].map(({ name, nb_cfg }) => [name, nb_cfg]))
      // A host that was killed and came back under another name of its chassis has a row of each for a while.
      const confirmed = (host: string): boolean =>
        [...tables.Chassis.values()].some(({ hostname, name }) => hostname === host && (applied.get(name) ?? 0) >= number)
      return hosts.filter((host) => !confirmed(host))
    }
  }

  const confirmed = async (number: number, hosts: readonly string[], signal: AbortSignal): Promise<void> => {
    const { until } = await reported()
    await south.whenUp({ timeoutMs: CALL_MS, signal })
    const pending = await pendingOf(number, hosts)
    await until('the confirmation of the hosts', () => pending().length === 0, { timeoutMs: CALL_MS, signal }).catch((error: unknown) => {
      if (!(error instanceof TimeoutError)) throw error
      throw new DriverError('unreachable', `OVN on ${pending().join(', ')} did not confirm a change within ${CALL_MS} ms`, { cause: error })
    })
  }

  const change: NetworkDatabase['change'] = (what, plan, { hosts, signal }) =>
    guarded(what, signal, async () => {
      const number = await writeInTurn({ what, plan, least: await lastConfirmed(hosts), signal })
      // What differs no longer may have been written a moment ago, and be in force nowhere yet.
      if (hosts.length > 0) await confirmed(number ?? numberOf(await wanted()), hosts, signal)
    })

  return {
    change,
    ensure: (object, rows, request) =>
      change(`change ${object}`, (present, inserted) => planChange(present, object, rows, inserted), request),
    catchUp: (signal) =>
      guarded('read rows', signal, async () => {
        const replica = await wanted()
        const [answer] = await transact([select('NB_Global', [], ['nb_cfg'])], { timeoutMs: CALL_MS, signal })
        const number = answer!.rows![0]!['nb_cfg'] as number
        await replica.until('what was written', () => numberOf(replica) >= number, { timeoutMs: CALL_MS, signal })
      }),
    read: (look, signal) => guarded('read rows', signal, async () => (await wanted(), look(index))),
    gateways: (signal) =>
      guarded('read hosts', signal, async () => {
        const { tables } = await reported()
        await south.whenUp({ timeoutMs: CALL_MS, signal })
        return [...tables.Chassis.values()]
          .filter(({ other_config }) =>
            other_config['ovn-bridge-mappings']?.split(',').some((each) => each.startsWith(`${NAT_PHYSICAL_NETWORK}:`)),
          )
          .map(({ name, hostname }) => ({ name, hostname }))
      }),
    probe: (hosts, signal) =>
      guarded('probe hosts', signal, async () => {
        const { tables, until } = await reported()
        await south.whenUp({ timeoutMs: CALL_MS, signal })
        const known = hosts.filter((host) => [...tables.Chassis.values()].some(({ hostname }) => hostname === host))
        if (known.length === 0) return []
        const step = Math.max((await lastConfirmed(known)) - numberOf(await wanted()), 0) + 1
        const next = [mutate('NB_Global', [], [['nb_cfg', '+=', step]]), select('NB_Global', [], ['nb_cfg'])]
        const number = (await transact(next, { timeoutMs: CALL_MS, signal })).at(-1)!.rows![0]!['nb_cfg'] as number
        const pending = await pendingOf(number, known)
        await until('the hosts', () => pending().length === 0, { timeoutMs: PROBE_MS, signal }).catch((error: unknown) => {
          if (!(error instanceof TimeoutError)) throw error
        })
        const silent = new Set(pending())
        return known.map((host) => ({ host, answers: !silent.has(host) }))
      }),
    chassis: (hosts, signal) =>
      guarded('read chassis', signal, async () => {
        const { tables } = await reported()
        await south.whenUp({ timeoutMs: CALL_MS, signal })
        const ports = Map.groupBy(tables.Port_Binding.values(), (each) => each.chassis)
        const confirmed = new Map([...tables.Chassis_Private.values()].map(({ name, nb_cfg_timestamp }) => [name, nb_cfg_timestamp]))
        return [...tables.Chassis]
          .filter(([, { hostname }]) => hosts.includes(hostname))
          .map(([uuid, { name, hostname, encaps }]) => ({
            name,
            host: hostname,
            encaps: encaps.flatMap((each) => tables.Encap.get(each) ?? []).map(({ type, ip }) => ({ type, address: ip })),
            ports: ports.get(uuid)?.length ?? 0,
            confirmedAt: confirmed.get(name) ? new Date(confirmed.get(name)!) : null,
          }))
      }),
    portUp: (name, signal) =>
      guarded(`wait for port ${name}`, signal, async () => {
        const { tables, until } = await reported()
        const isUp = (): boolean => [...tables.Port_Binding.values()].some((each) => each.logical_port === name && each.up === true)
        await until(`port ${name}`, isUp, { timeoutMs: CALL_MS, signal })
      }),
    close: () => {
      north.close()
      south.close()
    },
  }
}

const numberOf = ({ tables }: Monitored<Northbound, typeof MONITORED>): number => [...tables.NB_Global.values()][0]?.nb_cfg ?? 0

interface Write {
  what: string
  plan: Plan
  least: number
  signal: AbortSignal
}

/** A failed attempt is made again by the next caller. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () =>
    (opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    }))
}

async function guarded<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted()
    return await work()
  } catch (error) {
    if (error instanceof DriverError) throw error
    const kind = signal.aborted ? 'aborted' : kindOf(error)
    throw new DriverError(kind, `Could not ${what} in OVN's database: ${(error as Error).message}`, { cause: error })
  }
}

function kindOf(error: unknown): DriverErrorKind {
  if (error instanceof CancelledError) return 'aborted'
  if (error instanceof RefusedError) return 'transient'
  if (error instanceof OvsdbError && error.outcome === 'unknown') return 'unknown_outcome'
  return error instanceof ConnectionLostError || error instanceof TimeoutError ? 'unreachable' : 'permanent'
}
