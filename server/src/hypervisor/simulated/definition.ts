// Defines machines: size, generation, interfaces.
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import {
  GIB,
  DriverError,
  isoOf,
  systemOf,
  type CpuSet,
  type Machines,
  type MachineSpec,
  type NicSpec,
  type VolumeRef,
  type VolumeSpec,
} from '../driver.ts'
import { roomFor } from '../room.ts'
import type { Pause, SimulatedHost } from './host.ts'
import { ensureIso } from './isos.ts'
import { claimSpace, diskName, isoName, usedOf, requireComplete, volumeName } from './volumes.ts'

export type MachineRow = Row<'simulated.machines'>

export const findRow = (queries: Queries, hostId: string, vmId: string): Promise<MachineRow | undefined> =>
  queries.maybe<MachineRow>(
    sql`select ${allColumns('simulated.machines')} from simulated.machines where host_id = ${hostId} and name = ${vmId}`,
  )

export const lockRow = (tx: Tx, hostId: string, vmId: string): Promise<MachineRow | undefined> =>
  tx.maybe<MachineRow>(
    sql`select ${allColumns('simulated.machines')} from simulated.machines where host_id = ${hostId} and name = ${vmId} for update`,
  )

export function requireMachine(row: MachineRow | undefined, hostId: string, vmId: string): MachineRow {
  if (!row) throw new DriverError('not_found', `Simulated host ${hostId} has no machine ${vmId}`)
  return row
}

export function requireOn(row: MachineRow | undefined, hostId: string, vmId: string): MachineRow {
  const machine = requireMachine(row, hostId, vmId)
  if (machine.power === 'running') return machine
  throw new DriverError('invalid_state', `Machine ${vmId} is ${machine.power}`, { userMessage: 'The VM is not running. Start it first.' })
}

export function definitionMethods(host: SimulatedHost): Pick<Machines, 'ensureDefined' | 'ensureCpus'> {
  const { hostId, db, call, pace } = host
  return {
    ensureCpus: (vmId, cpus, signal) =>
      call('ensureCpus', signal, () =>
        db.tx(async (tx) => {
          const row = await lockRow(tx, hostId, vmId)
          if (row && row.power !== 'stopped') await setCpus(tx, hostId, vmId, cpus)
        }),
      ),

    ensureDefined: (spec, signal) =>
      call('ensureDefined', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        await bringIso(host, spec, pause)
        return db.tx(async (tx) => {
          const row = await lockRow(tx, hostId, spec.vmId)
          if (row && row.power !== 'stopped') {
            requireSameShape(row, spec)
            await setDiskLimits(tx, hostId, spec)
          } else await define(tx, host, spec)
          return { diskGiB: await growDisk(tx, hostId, spec) }
        })
      }),
  }
}

export function requireSameShape(row: MachineRow, { vmId, generation, vcpu, ramMiB, rescue }: MachineSpec): void {
  const isSameSystem = row.generation === generation && row.rescue_generation === (rescue?.generation ?? null)
  if (isSameSystem && row.vcpu === vcpu && row.ram_mib === ramMiB) return
  const system = row.rescue_generation === null ? '' : `, rescue system ${row.rescue_generation}`
  const has = `generation ${row.generation}${system}, ${row.vcpu} vCPU, ${row.ram_mib} MiB`
  throw new DriverError('invalid_state', `Machine ${vmId} is ${row.power} with ${has}; stop it before it can change`)
}

/** Of a machine that is off: one that runs keeps what it has. */
export async function bringIso(host: SimulatedHost, spec: MachineSpec, pause: Pause): Promise<void> {
  const iso = isoOf(spec)
  if (!iso || ((await findRow(host.db, host.hostId, spec.vmId))?.power ?? 'stopped') !== 'stopped') return
  await ensureIso(host, iso, pause)
}

export async function define(tx: Tx, host: SimulatedHost, spec: MachineSpec): Promise<void> {
  const { vmId, accountId, uuid, generation, vcpu, ramMiB, diskLimits } = spec
  const { hasAgent } = systemOf(spec)
  const rescueGeneration = spec.rescue?.generation ?? null
  const room = roomFor(spec)
  await requireComplete(tx, host.hostId, diskName(vmId, generation))
  if (rescueGeneration !== null) await requireComplete(tx, host.hostId, diskName(vmId, rescueGeneration))
  const isoId = isoOf(spec)?.imageId ?? null
  if (isoId !== null) await requireComplete(tx, host.hostId, isoName(isoId))
  // With two unique keys, an upsert on one of them can fail on the other beside an equal one of another process.
  await tx.run(sql`insert into simulated.machines
      (host_id, name, vm_id, account_id, uuid, generation, vcpu, ram_mib, has_agent, disk_iops, disk_mib_per_second)
    values (${host.hostId}, ${vmId}, ${vmId}, ${accountId}, ${uuid}, ${generation}, ${vcpu}, ${ramMiB}, ${hasAgent},
      ${diskLimits.iops}, ${diskLimits.miBPerSecond})
    on conflict do nothing`)
  const defined = await tx.run(sql`update simulated.machines set account_id = ${accountId}, generation = ${generation}, vcpu = ${vcpu},
      ram_mib = ${ramMiB}, room_vcpu = ${room.vcpu}, room_ram_mib = ${room.ramMiB}, dimms = 0, disk_iops = ${diskLimits.iops}, disk_mib_per_second = ${diskLimits.miBPerSecond}, has_agent = ${hasAgent},
      is_stuck = is_stuck and generation = ${generation} and rescue_generation is not distinct from ${rescueGeneration}, rescue_generation = ${rescueGeneration},
      has_drive = ${isoId !== null}, iso_id = ${isoId}
    where host_id = ${host.hostId} and name = ${vmId} and uuid = ${uuid}`)
  if (defined === 0) throw new DriverError('conflict', `Machine ${vmId} exists on simulated host ${host.hostId} with another uuid`)
  await setCpus(tx, host.hostId, vmId, spec.cpus)
  const macs = spec.nics.map((nic) => nic.mac)
  await tx.run(sql`delete from simulated.nics where host_id = ${host.hostId} and machine = ${vmId} and mac <> all(${macs})`)
  for (const nic of spec.nics) await addNic(tx, host, vmId, nic)
  await defineVolumes(tx, host.hostId, vmId, spec.volumes)
}

async function defineVolumes(tx: Tx, hostId: string, vmId: string, volumes: VolumeSpec[]): Promise<void> {
  const ids = volumes.map((volume) => volume.volumeId)
  await tx.run(sql`delete from simulated.machine_volumes where host_id = ${hostId} and machine = ${vmId} and volume_id <> all(${ids})`)
  for (const volume of volumes) await addVolume(tx, hostId, vmId, volume)
}

/** Nothing is attached twice: the first machine keeps it. */
export async function addVolume(tx: Tx, hostId: string, vmId: string, volume: VolumeRef): Promise<void> {
  const { volumeId, storageId } = volume
  await requireComplete(tx, storageId ?? hostId, volumeName(volume))
  if (
    await tx.maybe(sql`select from simulated.machine_volumes where host_id = ${hostId} and volume_id = ${volumeId} and machine <> ${vmId}`)
  )
    throw new DriverError('in_use', `Another machine of simulated host ${hostId} has volume ${volumeId}`)
  await tx.run(
    sql`insert into simulated.machine_volumes (host_id, machine, volume_id) values (${hostId}, ${vmId}, ${volumeId}) on conflict do nothing`,
  )
}

export const setCpus = (tx: Tx, hostId: string, vmId: string, set: CpuSet | null): Promise<number> =>
  tx.run(sql`update simulated.machines set cpus = ${set?.cpus ?? null}, numa_node = ${set?.numaNode ?? null}
    where host_id = ${hostId} and name = ${vmId}`)

const setDiskLimits = (tx: Tx, hostId: string, { vmId, diskLimits }: MachineSpec): Promise<number> =>
  tx.run(sql`update simulated.machines set disk_iops = ${diskLimits.iops}, disk_mib_per_second = ${diskLimits.miBPerSecond}
    where host_id = ${hostId} and name = ${vmId}`)

export const addNic = (tx: Tx, { hostId, bytesPerSecond }: SimulatedHost, vmId: string, nic: NicSpec): Promise<number> =>
  tx.run(sql`insert into simulated.nics (host_id, machine, mac, kind, address, ipv6, limit_mbps, bytes_per_second)
    values (${hostId}, ${vmId}, ${nic.mac}, ${nic.kind}, ${nic.ipv4?.address ?? null}, ${nic.ipv6?.address ?? null}, (select limit_mbps from simulated.ports where mac = ${nic.mac} limit 1),
      ${bytesPerSecond(nic.mac)})
    on conflict (host_id, machine, mac) do update set kind = excluded.kind, address = excluded.address, ipv6 = excluded.ipv6, limit_mbps = excluded.limit_mbps`)

/** Grows only. Returns the resulting size. */
async function growDisk(tx: Tx, hostId: string, { vmId, generation, diskGiB }: MachineSpec): Promise<number> {
  const name = diskName(vmId, generation)
  const disk = await requireComplete(tx, hostId, name)
  const added = diskGiB * GIB - Number(disk.capacity_bytes)
  if (added <= 0) return Number(disk.capacity_bytes) / GIB
  await tx.run(sql`update simulated.volumes set capacity_bytes = capacity_bytes + ${added}::int8, size_bytes = size_bytes + ${usedOf(added)}::int8
    where host_id = ${hostId} and name = ${name}`)
  if (disk.storage_id === null) await claimSpace(tx, hostId, usedOf(added))
  return diskGiB
}
