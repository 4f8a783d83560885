// Has a backup of every VM proved once a month, one at a time on a host, where a share of what is free is enough for it and, for a day, nobody
// waits for other work of the host. Stops proofs that are no longer wanted, and removes what a stopped one left behind.
import { randomUUID } from 'node:crypto'
import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { reconciler, type Deps } from '../deps.ts'
import { getRegion, getTemplateById } from '../catalog/service.ts'
import {
  aboveReserveGiB,
  callHost,
  isStable,
  listHosts,
  PROVE,
  reserveCapacity,
  findMissingGuestType,
  guestNeed,
  toCapacity,
  type HostRow,
} from '../hosts/service.ts'
import { lockVmById, type VmDetails } from '../vms/service.ts'
import * as proofs from './proofs.ts'
import { proveBackup } from './prove.workflow.ts'

/** Half of the VMs that are looked at in one run. */
const LOOKED_AT = 100
const PURGE_MS = 60_000
/** A guest boots with less than its VM may have. */
const [MAX_VCPU, MAX_RAM_MIB] = [2, 4096]

export const proveBackups = reconciler(PROVE, '1m', async (deps, stopping = new AbortController().signal) => {
  const { db, clock, config, metrics } = deps
  for (const { vm_id, run_id } of await proofs.unwantedProofs(db))
    await db.tx(async (tx) => {
      await lockVmById(tx, vm_id)
      await deps.workflows.cancel(tx, run_id, 'The backup was deleted, or the host needed the room')
    })
  for (const left of await proofs.leftovers(db)) await removeLeftover(deps, left, stopping)
  if (config.backupProofShare > 0) await startDue(deps)
  const { failed, overdue } = await proofs.countTrouble(db, clock.now())
  metrics.backupProofsFailed.set(failed)
  metrics.backupProofsOverdue.set(config.backupProofShare > 0 ? overdue : 0)
})

async function removeLeftover(deps: Deps, { id, host_id, is_host_removed }: Leftover, stopping: AbortSignal): Promise<void> {
  const purge = () => callHost(deps, host_id, stopping, (driver, signal) => driver.ensurePurged(id, signal), PURGE_MS)
  if (is_host_removed || !(await purge())) await deps.db.tx((tx) => proofs.endProof(tx, id))
}

type Leftover = Awaited<ReturnType<typeof proofs.leftovers>>[number]

async function startDue(deps: Deps): Promise<void> {
  const now = deps.clock.now()
  for (const { vm_id: vmId, next_at } of await proofs.dueVms(deps.db, now, LOOKED_AT))
    await deps.db
      .tx((tx) => startProof(tx, deps, vmId, proofs.isPatient(now, next_at)))
      .catch((error: unknown) => deps.log.warn({ err: error, vmId }, 'starting proof of backup failed'))
}

async function startProof(tx: Tx, deps: Deps, vmId: string, isPatient: boolean): Promise<void> {
  const now = deps.clock.now()
  const vm = await lockVmById(tx, vmId)
  if (!vm) return
  const backup = await proofs.chooseBackup(tx, vmId)
  if (!backup) return void (await proofs.postpone(tx, vmId, proofs.nextDay(now)))
  const diskGiB = backup.disk_gib ?? vm.disk_gib
  // The disk is made from a copy of the backup beside it.
  const size = { vcpu: Math.min(vm.vcpu, MAX_VCPU), ramMiB: Math.min(vm.ram_mib, MAX_RAM_MIB), diskGiB: 2 * diskGiB }
  const host = await takeHost(tx, deps, vm, backup, size, isPatient)
  if (!host) return
  const [proofId, runId] = [newId(), newId()]
  const booked = { vcpu: size.vcpu, ram_mib: size.ramMiB, disk_gib: size.diskGiB }
  await proofs.insertProof(tx, {
    id: proofId,
    backup_id: backup.id,
    vm_id: vmId,
    host_id: host.id,
    run_id: runId,
    ...booked,
    started_at: now,
  })
  const input = {
    proofId,
    uuid: randomUUID(),
    backupId: backup.id,
    vmId,
    accountId: vm.account_id,
    hostId: host.id,
    templateId: backup.os_template_id,
    hostname: vm.hostname,
    user: vm.default_user,
    vcpu: size.vcpu,
    ramMiB: size.ramMiB,
    diskGiB,
  }
  await deps.workflows.start(tx, proveBackup, input, { label: 'BACKUP_PROVE', subjectId: proofId, runId })
}

type Size = Parameters<typeof reserveCapacity>[2]
type Backup = NonNullable<Awaited<ReturnType<typeof proofs.chooseBackup>>>

/** Of the VM's region, the one with the most free memory, booked; undefined where none is free enough, or the backup cannot be read now. */
async function takeHost(
  tx: Tx,
  { clock, config }: Deps,
  vm: VmDetails,
  backup: Backup,
  size: Size,
  isPatient: boolean,
): Promise<HostRow | undefined> {
  const [region, template] = [await getRegion(tx, vm.region_id), await getTemplateById(tx, backup.os_template_id)]
  const hosts = await listHosts(tx)
  const isReachable = (host: HostRow): boolean => isStable(host, clock.now())
  if (backup.host_id !== null && !hosts.some((host) => host.id === backup.host_id && isReachable(host))) return undefined
  const occupied = await proofs.occupiedHosts(tx, isPatient)
  const isUsable = (host: HostRow): boolean =>
    host.region_id === region.id &&
    (region.network_controller === null) === (host.driver === 'simulated') &&
    isReachable(host) &&
    !host.maintenance &&
    !occupied.has(host.id) &&
    findMissingGuestType(host, guestNeed(template)) === undefined &&
    isWithinShare(host, size, config.backupProofShare / 100)
  const freeRam = (host: HostRow): number => host.ram_total_mib - host.ram_used_mib
  const [best] = hosts.filter(isUsable).toSorted((a, b) => freeRam(b) - freeRam(a))
  return best && (await reserveCapacity(tx, best.id, size)) ? best : undefined
}

function isWithinShare(host: HostRow, size: Size, share: number): boolean {
  const { vcpu, ramMiB } = toCapacity(host)
  return (
    size.vcpu <= share * (vcpu.total - vcpu.used) &&
    size.ramMiB <= share * (ramMiB.total - ramMiB.used) &&
    size.diskGiB <= share * aboveReserveGiB(host)
  )
}
