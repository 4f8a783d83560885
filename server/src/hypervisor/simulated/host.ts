// One simulated host. Every method goes through `call`, which simulates latency, failures and unreachability.
import type { Clock } from '../../kernel/clock.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import { GIB, DriverError, type Driver, type DriverErrorKind, type TemplateRef } from '../driver.ts'
import type { Image } from '../image-source.ts'
import type { NetworkController } from '../network-controller.ts'
import { refuseAborted, untilAborted, type Pace } from './latency.ts'

export type Verb = Exclude<keyof Driver | keyof NetworkController, 'hostId' | 'close'>

/** The first three fail before anything is done, `guest_failed` with a console tail. halfway: fails at the first pause, with partial effect ·
 *  lost_answer: takes full effect, then fails · hang: until aborted. */
export type FaultKind = 'transient' | 'permanent' | 'guest_failed' | 'halfway' | 'lost_answer' | 'hang'

/** Takes as long as a real host. */
export type Pause = (ms: number) => Promise<void>

export interface SimulatedHost {
  hostId: string
  db: Db
  clock: Clock
  pace: Pace
  /** Default traffic of an interface. */
  bytesPerSecond: (mac: string) => number
  /** Of images that were made of guests; undefined for other templates. */
  findImage: (template: TemplateRef) => Promise<Image | undefined>
  call<T>(verb: Verb, signal: AbortSignal, work: (pause: Pause) => Promise<T>): Promise<T>
}

type HostSettings = Omit<SimulatedHost, 'call'> & { diskGiB: number }

export function simulatedHost({ diskGiB, ...settings }: HostSettings): SimulatedHost {
  const { hostId, db, pace } = settings
  let registered: Promise<unknown> | undefined
  return {
    ...settings,
    async call(verb, signal, work) {
      refuseAborted(signal)
      try {
        await (registered ??= register(db, hostId, diskGiB * GIB))
        const fault = await nextFault(db, hostId, verb)
        if (fault === 'hang') await untilAborted(signal)
        if (fault === 'transient' || fault === 'permanent' || fault === 'guest_failed')
          throw planted(fault, verb, 'failed before it did anything')
        const answer = await work(async (ms) => {
          if (fault === 'halfway') throw planted('transient', verb, 'failed halfway')
          refuseAborted(signal)
          if (ms > 0) await pace.wait(ms, signal)
        })
        if (fault === 'lost_answer') throw planted('unknown_outcome', verb, 'did its work, but the answer was lost')
        return answer
      } catch (error) {
        if (!(error instanceof DriverError)) registered = undefined
        throw asDriverError(error, verb, hostId)
      }
    },
  }
}

const register = (db: Db, hostId: string, diskBytes: number): Promise<number> =>
  db.run(sql`insert into simulated.hosts (host_id, disk_total_bytes) values (${hostId}, ${diskBytes})
    on conflict (host_id) do update set disk_total_bytes = excluded.disk_total_bytes
    where simulated.hosts.disk_total_bytes <> excluded.disk_total_bytes`)

async function nextFault(db: Db, hostId: string, verb: Verb): Promise<FaultKind | undefined> {
  const host = await db.one<{ is_gone: boolean; has_faults: boolean }>(sql`select is_gone,
    exists (select from simulated.faults f where f.host_id = h.host_id) as has_faults from simulated.hosts h where host_id = ${hostId}`)
  if (host.is_gone) throw new DriverError('unreachable', `Simulated host ${hostId} is gone, so ${verb} got no answer`)
  if (!host.has_faults) return undefined
  const due = await db.many<{ kind: FaultKind; fires: boolean }>(sql`update simulated.faults set calls = calls + 1
    where host_id = ${hostId} and verb in (${verb}, '*') returning kind, calls between first_call and last_call as fires`)
  await db.run(sql`delete from simulated.faults where host_id = ${hostId} and calls >= last_call`)
  return due.find((fault) => fault.fires)?.kind
}

/** The last console line of a guest that was told to hang. */
export const PANIC = '[    0.991240] Kernel panic - not syncing: the guest was told to hang'

const planted = (kind: DriverErrorKind, verb: Verb, what: string): DriverError =>
  new DriverError(kind, `Planted fault: ${verb} ${what}`, kind === 'guest_failed' ? { consoleTail: [PANIC] } : {})

const VIOLATIONS: Record<string, DriverErrorKind> = { '23503': 'not_found', '23505': 'conflict', '23P01': 'conflict' }

/** The database stands for the host's hardware: after its failure the effect of the call is unknown. */
function asDriverError(error: unknown, verb: Verb, hostId: string): DriverError {
  if (error instanceof DriverError) return error
  const { code, message } = error as { code?: string; message?: string }
  return new DriverError(VIOLATIONS[code ?? ''] ?? 'unknown_outcome', `${verb} on simulated host ${hostId}: ${message}`, { cause: error })
}
