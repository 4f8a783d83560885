// Drift: changes that are not made through the driver, by operators with a shell on the host, by guests, by traffic.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { sql, type Db, type NotNull, type Sql } from '../../kernel/database/db.ts'
import { DriverError, type StopReason } from '../driver.ts'
import { countNow } from './stats.ts'
import { start, stop } from './power.ts'
import { diskName, requireComplete, type VolumeRow } from './volumes.ts'

export interface DriftControl {
  startMachine(vmId: string): Promise<void>
  stopMachine(vmId: string, reason: StopReason): Promise<void>
  pauseMachine(vmId: string): Promise<void>
  /** Undefined on the host; its volumes stay. */
  deleteMachine(vmId: string): Promise<void>
  /** A machine without our metadata. */
  createStranger(name: string): Promise<void>
  /** The guest hangs: it neither boots nor reacts, until `false` or a new generation. */
  hangGuest(vmId: string, stuck?: boolean): Promise<void>
  writeFile(vmId: string, name: string, text: string): Promise<void>
  /** Null when the file does not exist. */
  readFile(vmId: string, name: string): Promise<string | null>
  /** Of the machine's own disk, also in a rescue system. */
  readOwnFile(vmId: string, name: string): Promise<string | null>
  /** By the guest of a machine that has it. */
  writeVolume(vmId: string, volumeId: string, text: string): Promise<void>
  /** Null where the machine does not have it. */
  readVolume(vmId: string, volumeId: string): Promise<{ text: string; bytes: number } | null>
  /** Users, keys and password on the guest's disk. */
  login(vmId: string): Promise<{ hostname: string; user: string; sshKeys: string[]; passwordHash: string | null }>
  addTraffic(vmId: string, mac: string, bytes: { received: number; sent: number }): Promise<void>
}

export function driftControl(db: Db, clock: Clock, hostId: string): DriftControl {
  const machine = (vmId: string) => sql`host_id = ${hostId} and name = ${vmId}`
  const volume = (vmId: string, volumeId: string) => sql`kind = 'volume' and id = ${volumeId} and exists (
    select from simulated.machine_volumes a where a.host_id = ${hostId} and a.machine = ${vmId} and a.volume_id = ${volumeId})`
  /** The one that its guest runs from. */
  const disk = async (vmId: string, which: Sql = sql`coalesce(rescue_generation, generation)`) => {
    const row = await db.maybe<{ generation: NotNull<number> }>(
      sql`select ${which} as generation from simulated.machines where ${machine(vmId)}`,
    )
    if (!row) throw new DriverError('not_found', `Simulated host ${hostId} has no machine ${vmId}`)
    return requireComplete(db, hostId, diskName(vmId, row.generation))
  }
  return {
    startMachine: (vmId) => db.tx((tx) => start(tx, { hostId, clock }, vmId)),
    stopMachine: (vmId, reason) => db.tx((tx) => stop(tx, hostId, vmId, reason)),
    pauseMachine: (vmId) =>
      db.tx(async (tx) => {
        await tx.run(sql`update simulated.machines set power = 'paused' where ${machine(vmId)} and power = 'running'`)
        await tx.run(sql`update simulated.nics set ${countNow(clock.now())} where host_id = ${hostId} and machine = ${vmId}`)
        await tx.run(sql`update simulated.nics set counted_at = null where host_id = ${hostId} and machine = ${vmId}`)
      }),
    deleteMachine: async (vmId) => void (await db.run(sql`delete from simulated.machines where ${machine(vmId)}`)),
    createStranger: async (name) =>
      void (await db.run(sql`insert into simulated.machines (host_id, name, uuid, vcpu, ram_mib, has_agent, power, started_at)
        values (${hostId}, ${name}, ${randomUUID()}, 1, 512, false, 'running', ${clock.now()})`)),
    hangGuest: async (vmId, stuck = true) =>
      void (await db.run(sql`update simulated.machines set is_stuck = ${stuck} where ${machine(vmId)}`)),
    async writeFile(vmId, file, text) {
      const { name } = await disk(vmId)
      await db.run(sql`update simulated.volumes set content = jsonb_set(content, array['files', ${file}], to_jsonb(${text}::text))
        where host_id = ${hostId} and name = ${name}`)
    },
    readFile: async (vmId, file) => (await disk(vmId)).content.files?.[file] ?? null,
    readOwnFile: async (vmId, file) => (await disk(vmId, sql`generation`)).content.files?.[file] ?? null,
    async writeVolume(vmId, volumeId, text) {
      await db.run(sql`update simulated.volumes set content = jsonb_build_object('files', jsonb_build_object('', ${text}::text))
        where ${volume(vmId, volumeId)}`)
    },
    async readVolume(vmId, volumeId) {
      const found = await db.maybe<Pick<VolumeRow, 'content' | 'capacity_bytes'>>(
        sql`select content, capacity_bytes from simulated.volumes where ${volume(vmId, volumeId)} order by generation desc limit 1`,
      )
      return found ? { text: found.content.files?.[''] ?? '', bytes: Number(found.capacity_bytes) } : null
    },
    async login(vmId) {
      const { hostname = '', user = '', sshKeys = [], passwordHash = null } = (await disk(vmId)).content
      return { hostname, user, sshKeys, passwordHash }
    },
    addTraffic: async (vmId, mac, { received, sent }) =>
      void (await db.run(sql`update simulated.nics set received_bytes = received_bytes + ${received}::int8, sent_bytes = sent_bytes + ${sent}::int8
        where host_id = ${hostId} and machine = ${vmId} and mac = ${mac}`)),
  }
}
