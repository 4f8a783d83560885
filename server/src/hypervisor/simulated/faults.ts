// Fault injection. Faults are stored with the state of the host, so another process can inject them.
import { sql, type Db } from '../../kernel/database/db.ts'
import { notify } from './events.ts'
import type { FaultKind, Verb } from './host.ts'

export interface FaultOrder {
  verb: Verb | '*'
  kind: FaultKind
  /** The first call that fails, counted from now. */
  atCall?: number
  /** How many calls in a row fail. */
  times?: number
}

export interface FaultControl {
  plant(fault: FaultOrder): Promise<void>
  clear(): Promise<void>
  fillDisk(): Promise<void>
  freeDisk(): Promise<void>
  /** Every call fails until it is back. Machines keep running. */
  loseHost(): Promise<void>
  returnHost(): Promise<void>
  /** Power loss: every machine is off, and no events are sent. */
  cutPower(): Promise<void>
}

export function faultControl(db: Db, hostId: string): FaultControl {
  const host = sql`host_id = ${hostId}`
  const register = (): Promise<number> =>
    db.run(sql`insert into simulated.hosts (host_id, disk_total_bytes) values (${hostId}, 0) on conflict do nothing`)
  const setHost = async (change: ReturnType<typeof sql>): Promise<void> => {
    await register()
    await db.run(sql`update simulated.hosts set ${change} where ${host}`)
  }
  return {
    async plant({ verb, kind, atCall = 1, times = 1 }) {
      await db.run(sql`insert into simulated.faults (host_id, verb, kind, first_call, last_call)
        values (${hostId}, ${verb}, ${kind}, ${atCall}, ${atCall + times - 1})`)
    },
    clear: async () => void (await db.run(sql`delete from simulated.faults where ${host}`)),
    fillDisk: () => setHost(sql`is_full = true`),
    freeDisk: () => setHost(sql`is_full = false`),
    loseHost: () => setHost(sql`is_gone = true`),
    async returnHost() {
      await setHost(sql`is_gone = false`)
      await notify(db, hostId, { type: 'missed' })
    },
    cutPower: async () =>
      void (await db.run(sql`update simulated.machines set power = 'stopped', stop_reason = 'host' where ${host} and power <> 'stopped'`)),
  }
}
