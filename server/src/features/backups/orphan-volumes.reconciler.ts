// Fails snapshots and backups that are missing on their host. Removes orphan volumes after a quarantine of one day, and stale disks of
// existing VMs after ten minutes. A volume must be an orphan at two checks, and the volumes of a running machine are never removed: an
// operator may have started it.
import type { Driver, Volume } from '../../hypervisor/driver.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, isStable, listHosts } from '../hosts/service.ts'
import { vmById } from '../vms/service.ts'
import { failMissingCopies } from './missing-data.ts'
import * as strays from './orphan-volumes.ts'

const BATCH = 500

export const sweepOrphanVolumes = keyedReconciler('backups.orphan_volumes', '1h', {
  busy: async ({ db, clock }) => (await listHosts(db)).filter((host) => isStable(host, clock.now())).map((host) => host.id),
  runOnce: sweepHost,
})

async function sweepHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  const now = clock.now()
  const copies: string[] = []
  const unlisted = await callHost(deps, hostId, stopping, async (driver, signal) => {
    for await (const batch of batches(driver.listVolumes(signal))) {
      await strays.recordOrphans(db, now, hostId, batch)
      copies.push(...batch.filter(isCopy).map((each) => each.id))
    }
  })
  if (unlisted) return // an incomplete listing does not show what is missing
  await strays.forgetUnseen(db, hostId, now)
  for (const lost of await db.tx((tx) => failMissingCopies(tx, now, hostId, copies)))
    log.error({ hostId, ...lost }, 'snapshot/backup data missing on host; marked FAILED')
  for (const fail of deps.hooks.onCopiesListed)
    for (const id of await db.tx((tx) => fail(tx, now, hostId, copies)))
      log.error({ hostId, table: 'volume_snapshots', id }, 'snapshot/backup data missing on host; marked FAILED')
  for (const stray of await strays.expiredOrphans(db, hostId, strays.quarantineEnds(now))) {
    let removed = false
    const error = await callHost(deps, hostId, stopping, async (driver, signal) => (removed = await remove(deps, driver, stray, signal)))
    if (error || !removed) continue // it stays in the operator's quarantine list
    await strays.forgetStray(db, stray)
    log.warn({ hostId, kind: stray.kind, id: stray.id, generation: stray.generation }, 'orphan volume removed')
  }
}

const isCopy = ({ kind, complete }: Volume): boolean => complete && (kind === 'snapshot' || kind === 'backup')

async function* batches(volumes: AsyncIterable<Volume>): AsyncGenerator<Volume[]> {
  let batch: Volume[] = []
  for await (const volume of volumes) {
    if (batch.push(volume) < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Ids and generations are never reused, so a recorded orphan cannot have become a used volume since. */
async function remove(
  { db }: Deps,
  driver: Driver,
  { kind, id, vm_id, generation }: strays.OrphanVolumeRow,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind === 'template') await driver.ensureNoTemplate(id, signal)
  else if (kind === 'iso') await driver.ensureNoIso(id, signal)
  else if (kind === 'volume') await driver.ensureNoVolume({ volumeId: id, generation, storageId: null }, signal)
  else if (vm_id === null) return false
  else if (kind === 'snapshot') await driver.ensureNoSnapshot(vm_id, id, signal)
  else if (kind === 'backup') await driver.ensureNoBackup(vm_id, id, signal)
  else if (await vmById(db, vm_id)) await driver.ensureNoDisk(vm_id, generation, signal)
  else return removeUnknownVm(driver, vm_id, signal)
  return true
}

async function removeUnknownVm(driver: Driver, vmId: string, signal: AbortSignal): Promise<boolean> {
  const machine = await driver.findMachine(vmId, signal)
  if (machine && machine.power !== 'stopped') return false
  await driver.ensurePurged(vmId, signal)
  return true
}
