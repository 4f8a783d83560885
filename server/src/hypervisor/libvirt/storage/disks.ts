// Disks and their cloud-init seeds. A disk is a qcow2 layer on the template, or a standalone copy of a snapshot or backup; or an image in a
// storage backend, whose seed is on the host nevertheless.
import { DriverError, GIB, isDriverError, type DiskSource, type Machines, type MachineSpec } from '../../driver.ts'
import { capacityOf, growTo } from './resize.ts'
import { findMachine } from '../domain/lookup.ts'
import { backupName, diskName, seedName, snapshotName, templateName } from '../core/resource-names.ts'
import { seedImage } from './cloud-init.ts'
import type { HostContext } from '../core/host-context.ts'
import { findPool, getPool, markPool } from './backends.ts'
import { ensureTemplate, openImage } from './templates.ts'
import type { RbdPool } from '../../rbd/pool.ts'
import type { Parent } from '../../rbd/snapshots.ts'
import {
  becomesComplete,
  createVolume,
  findVolume,
  findComplete,
  isComplete,
  markComplete,
  removeVolume,
  tryCreate,
  upload,
} from './volumes.ts'
import { CLEANUP_TIMEOUT_MS } from '../core/poll.ts'

export const diskMethods = (context: HostContext): Pick<Machines, 'ensureDisk' | 'ensureNoDisk'> => ({
  ensureDisk: (spec, source, signal) => context.exclusive(`vm:${spec.vmId}`, signal, () => ensureDisk(context, spec, source, signal)),

  ensureNoDisk: (vmId, generation, signal) =>
    context.exclusive(`vm:${vmId}`, signal, async () => {
      const metadata = (await findMachine(context, vmId, signal))?.metadata
      if (metadata && [metadata.generation, metadata.rescue].includes(generation))
        throw new DriverError('in_use', `Machine ${vmId} is defined with the disk of generation ${generation}`)
      await removeDisk(context, vmId, generation, signal)
    }),
})

export async function removeDisk(context: HostContext, vmId: string, generation: number, signal: AbortSignal): Promise<void> {
  await removeVolume(context, seedName(vmId, generation), signal)
  const pool = await findPool(context, vmId, signal)
  if (pool) await pool.ensureNoDisk({ vmId, generation }, signal)
  else await removeVolume(context, diskName(vmId, generation), signal)
}

export async function ensureDisk(context: HostContext, spec: MachineSpec, source: DiskSource, signal: AbortSignal): Promise<void> {
  const name = (spec.storageId === null ? diskName : seedName)(spec.vmId, spec.generation)
  while (!(await becomesComplete(context, name, signal)))
    await makeDisk(context, spec, source, signal).catch(async (error: unknown) => {
      if (isDriverError(error, 'no_space')) await removeDisk(context, spec.vmId, spec.generation, AbortSignal.timeout(CLEANUP_TIMEOUT_MS))
      // Another process created it first: its disk is identical.
      if (!isDriverError(error, 'conflict')) throw error
    })
}

async function makeDisk(context: HostContext, spec: MachineSpec, source: DiskSource, signal: AbortSignal): Promise<void> {
  if (spec.storageId !== null) {
    await cloneInPool(context, await getPool(context, spec.storageId), spec, source, signal)
    if (await becomesComplete(context, seedName(spec.vmId, spec.generation), signal)) return // by another process, meanwhile
  } else if (source.from === 'pool') throw new DriverError('not_found', `VM ${spec.vmId} has no disk in a storage backend`)
  else
    await (source.from === 'template' ? layOnTemplate(context, spec, spec.diskGiB * GIB, signal) : copyFrom(context, spec, source, signal))
  await writeSeed(context, spec, signal)
  await markComplete(context, diskName(spec.vmId, spec.generation), signal)
}

/** Re-checks the marker of the template after creating the layer: removal clears the marker, then re-checks for dependents. Either side
 *  detects the race. */
export async function layOnTemplate(
  context: HostContext,
  { vmId, generation, template }: MachineSpec,
  wantedBytes: number,
  signal: AbortSignal,
): Promise<void> {
  const { path, capacityBytes } = await ensureTemplate(context, template, signal)
  const name = diskName(vmId, generation)
  await createVolume(context, { name, format: 'qcow2', capacityBytes: Math.max(wantedBytes, capacityBytes), backing: path }, signal)
  if (await isComplete(context, templateName(template.id), signal)) return
  await removeVolume(context, name, signal)
  throw new DriverError('transient', `Template ${template.id} was removed from host ${context.hostId} meanwhile`)
}

async function cloneInPool(context: HostContext, pool: RbdPool, spec: MachineSpec, source: DiskSource, signal: AbortSignal): Promise<void> {
  await markPool(context, spec.vmId, pool, signal)
  if (await pool.findDisk(spec, signal)) return
  if (source.from === 'pool')
    throw new DriverError('not_found', `Pool ${pool.backend.pool} has no disk of ${spec.vmId}, generation ${spec.generation}`)
  const bytes = spec.diskGiB * GIB
  const stored = source.from === 'backup' ? await pool.findBackup(spec.vmId, source.backupId, signal) : undefined
  if (source.from === 'backup' && stored?.isImage) return pool.ensureDiskFromImage(spec, source.backupId, bytes, signal)
  await pool.ensureDisk(spec, stored ?? (await findParent(context, pool, spec, source, signal)), bytes, signal)
}

async function findParent(
  context: HostContext,
  pool: RbdPool,
  { vmId, template }: MachineSpec,
  source: Exclude<DiskSource, { from: 'pool' }>,
  signal: AbortSignal,
): Promise<Parent> {
  if (source.from === 'template')
    return context.exclusive(`template:${template.id}`, signal, () =>
      pool.ensureTemplate(template.id, () => openImage(context, template), signal),
    )
  const found = source.from === 'snapshot' ? await pool.findSnapshot(vmId, source.snapshotId, signal) : undefined
  const copyId = source.from === 'snapshot' ? source.snapshotId : source.backupId
  if (!found) throw new DriverError('not_found', `Pool ${pool.backend.pool} has no ${source.from} ${copyId} of ${vmId}`)
  return found
}

type Copy = Exclude<DiskSource, { from: 'template' | 'pool' }>

async function copyFrom(context: HostContext, spec: MachineSpec, source: Copy, signal: AbortSignal): Promise<void> {
  const { vmId, generation } = spec
  const copied = source.from === 'snapshot' ? snapshotName(vmId, source.snapshotId) : backupName(vmId, source.backupId)
  const from = await findComplete(context, copied, signal)
  if (!from) throw new DriverError('not_found', `Host ${context.hostId} has no complete ${copied}`)
  const capacityBytes = await capacityOf(context, from, signal)
  const disk = await createVolume(context, { name: diskName(vmId, generation), format: 'qcow2', capacityBytes }, signal, from)
  await growTo(context, disk, spec.diskGiB * GIB, signal)
}

export async function writeSeed(context: HostContext, spec: MachineSpec, signal: AbortSignal): Promise<void> {
  const image = seedImage(spec)
  const name = seedName(spec.vmId, spec.generation)
  const wanted = { name, format: 'raw', capacityBytes: image.length } as const
  // Only one that was found is replaced: another process may have begun since.
  const isLeft = (await findVolume(context, name, signal)) !== undefined
  const volume = await (isLeft ? createVolume : tryCreate)(context, wanted, signal)
  if (!volume) throw new DriverError('conflict', `Another process writes ${name}`)
  await upload(context, volume, [image], signal)
}
