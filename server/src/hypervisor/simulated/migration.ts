// Moves machines between simulated hosts: one transaction takes the machine and the content of its disk to the other host.
import { json, sql, type Tx } from '../../kernel/database/db.ts'
import { DriverError, isoOf, type MachineSpec, type Migrations } from '../driver.ts'
import { findRow, lockRow, requireMachine, setCpus } from './definition.ts'
import { ensureTemplate, SEED_BYTES } from './disks.ts'
import { notify } from './events.ts'
import type { SimulatedHost } from './host.ts'
import { ensureIso } from './isos.ts'
import { countNow } from './stats.ts'
import {
  beginVolume,
  completeVolume,
  diskName,
  findVolume,
  isoName,
  leaveInStorage,
  removeVolumes,
  requireComplete,
  seedName,
  takeFromStorage,
  templateName,
  usedOf,
} from './volumes.ts'

export function migrationMethods(host: SimulatedHost): Migrations {
  const { hostId, db, call, pace } = host
  return {
    describeDisk: (vmId, signal) =>
      call('describeDisk', signal, async () => {
        const { generation } = requireMachine(await findRow(db, hostId, vmId), hostId, vmId)
        const { capacity_bytes, parent, storage_id } = await requireComplete(db, hostId, diskName(vmId, generation!))
        return storage_id === null ? { capacityBytes: Number(capacity_bytes), isLayer: parent !== null } : null
      }),

    ensureReceiver: (spec, shape, signal) =>
      call('ensureReceiver', signal, async (pause) => {
        const { vmId, generation, template } = spec
        const receiver = { hostId, folder: '', guestGroup: null, canOffload: true }
        if (await findRow(db, hostId, vmId)) return receiver
        if (shape?.isLayer) await ensureTemplate(host, template, pause)
        const iso = isoOf(spec)
        if (iso) await ensureIso(host, iso, pause)
        const owner = { id: vmId, vmId, generation }
        const [disk, seed] = [diskName(vmId, generation), seedName(vmId, generation)]
        await db.tx(async (tx) => {
          await removeVolumes(tx, hostId, sql`name = any(${[disk, seed]}) and storage_id is null`)
          await beginVolume(tx, hostId, { ...owner, name: seed, kind: 'seed', capacityBytes: SEED_BYTES, sizeBytes: SEED_BYTES })
          if (!shape) return
          const parent = shape.isLayer ? templateName(template.id) : null
          const size = { capacityBytes: shape.capacityBytes, sizeBytes: usedOf(shape.capacityBytes) }
          await beginVolume(tx, hostId, { ...owner, name: disk, kind: 'disk', parent, ...size })
        })
        await pause(pace.delays.overlayMs)
        return receiver
      }),

    ensureMigrated: (spec, { receiver, cpus, isOn, onProgress }, signal) =>
      call('ensureMigrated', signal, async (pause) => {
        const row = await findRow(db, hostId, spec.vmId)
        if (!row) return
        if (row.power !== (isOn ? 'running' : 'stopped'))
          throw new DriverError('invalid_state', `Machine ${spec.vmId} is ${row.power}`, {
            userMessage: 'The VM was started or stopped meanwhile.',
          })
        const totalBytes = spec.ramMiB * 2 ** 20
        for (const share of [1, 0.5]) {
          onProgress?.({ remainingBytes: totalBytes * share, totalBytes })
          await pause((pace.delays.copyMsPerGiB * usedOf(totalBytes)) / 2 ** 30)
        }
        await db.tx(async (tx) => {
          await leaveFor(tx, host, receiver.hostId, spec)
          await setCpus(tx, receiver.hostId, spec.vmId, cpus)
        })
      }),

    ensureNotMigrating: (_vmId, _request, signal) => call('ensureNotMigrating', signal, () => Promise.resolve()),

    ensureReceived: ({ vmId, generation }, _request, signal) =>
      call('ensureReceived', signal, async () => {
        requireMachine(await findRow(db, hostId, vmId), hostId, vmId)
        await completeVolume(db, hostId, seedName(vmId, generation))
      }),
  }
}

/** Its interfaces count from zero there, as new tap devices do. */
async function leaveFor(tx: Tx, { hostId, clock }: SimulatedHost, to: string, { vmId, generation, storageId }: MachineSpec): Promise<void> {
  const row = await lockRow(tx, hostId, vmId)
  if (!row) return
  if (await tx.maybe(sql`select from simulated.hosts where host_id = ${to} and is_gone`))
    throw new DriverError('unreachable', `Simulated host ${hostId} does not reach simulated host ${to}`)
  const disk = diskName(vmId, generation)
  if (storageId === null) {
    const { content } = await requireComplete(tx, hostId, disk)
    if (!(await findVolume(tx, to, disk))) throw new DriverError('not_found', `Simulated host ${to} has no disk to receive ${vmId}`)
    await tx.run(sql`update simulated.volumes set content = ${json(content)}, is_complete = true
      where host_id = ${to} and name = ${disk}`)
  } else {
    await leaveInStorage(tx, hostId, vmId)
    await takeFromStorage(tx, to, vmId, storageId)
  }
  if (row.iso_id !== null) await requireComplete(tx, to, isoName(row.iso_id))
  await tx.run(sql`update simulated.nics set ${countNow(clock.now())} where host_id = ${hostId} and machine = ${vmId}`)
  await tx.run(sql`insert into simulated.machines (host_id, name, vm_id, account_id, uuid, generation, vcpu, ram_mib, has_agent, power, stop_reason, epoch,
      started_at, booted_at, last_restart_id, is_stuck, disk_iops, disk_mib_per_second, room_vcpu, room_ram_mib, routes, dimms, has_drive, iso_id, boots_iso)
    select ${to}, name, vm_id, account_id, uuid, generation, vcpu, ram_mib, has_agent, power, stop_reason, epoch, started_at, booted_at, last_restart_id,
      is_stuck, disk_iops, disk_mib_per_second, room_vcpu, room_ram_mib, routes, dimms, has_drive, iso_id, boots_iso from simulated.machines where host_id = ${hostId} and name = ${vmId}`)
  await tx.run(sql`update simulated.nics set host_id = ${to}, epoch = nextval('simulated.epochs'), received_bytes = 0, sent_bytes = 0
    where host_id = ${hostId} and machine = ${vmId}`)
  await tx.run(sql`update simulated.machine_volumes set host_id = ${to} where host_id = ${hostId} and machine = ${vmId}`)
  await tx.run(sql`delete from simulated.machines where host_id = ${hostId} and name = ${vmId}`)
  if (row.power === 'running') await notify(tx, to, { type: 'started', vmId })
}
