// Disks and their seeds. A disk is a thin layer on the template, or a copy of a snapshot or backup that stands alone.
import { stopwatch } from '../../kernel/clock.ts'
import { DriverError, isDriverError, type DiskSource, type Machines, type MachineSpec } from '../driver.ts'
import { capacityOf, growTo } from './growth.ts'
import { findMachine } from './machine-state.ts'
import { backupName, diskName, seedName, snapshotName, templateName } from './names.ts'
import { seedImage } from './seed.ts'
import type { Session } from './session.ts'
import { ensureTemplate } from './templates.ts'
import { createVolume, findVolume, findWhole, isWhole, markWhole, removeVolume, upload } from './volumes.ts'
import { pause } from './waiting.ts'

export const GIB = 2 ** 30

export const diskVerbs = (session: Session): Pick<Machines, 'ensureDisk' | 'ensureNoDisk'> => ({
  ensureDisk: (spec, source, signal) => session.alone(`vm:${spec.vmId}`, signal, () => ensureDisk(session, spec, source, signal)),

  ensureNoDisk: (vmId, generation, signal) =>
    session.alone(`vm:${vmId}`, signal, async () => {
      if ((await findMachine(session, vmId, signal))?.metadata.generation === generation)
        throw new DriverError('in_use', `Machine ${vmId} is defined with the disk of generation ${generation}`)
      await removeDisk(session, vmId, generation, signal)
    }),
})

async function removeDisk(session: Session, vmId: string, generation: number, signal: AbortSignal): Promise<void> {
  await removeVolume(session, seedName(vmId, generation), signal)
  await removeVolume(session, diskName(vmId, generation), signal)
}

const CLEAN_UP_MS = 30_000

async function ensureDisk(session: Session, spec: MachineSpec, source: DiskSource, signal: AbortSignal): Promise<void> {
  while (!(await becomesWhole(session, diskName(spec.vmId, spec.generation), signal)))
    await makeDisk(session, spec, source, signal).catch(async (error: unknown) => {
      if (isDriverError(error, 'no_space')) await removeDisk(session, spec.vmId, spec.generation, AbortSignal.timeout(CLEAN_UP_MS))
      // Another process was faster by a moment: its disk is as good.
      if (!isDriverError(error, 'conflict')) throw error
    })
}

async function makeDisk(session: Session, spec: MachineSpec, source: DiskSource, signal: AbortSignal): Promise<void> {
  await (source.from === 'template' ? layOnTemplate(session, spec, signal) : copyFrom(session, spec, source, signal))
  await writeSeed(session, spec, signal)
  await markWhole(session, diskName(spec.vmId, spec.generation), signal)
}

const MOMENT_MS = 2_000
const LOOK_AGAIN_MS = 200

/** One that is half made gets a moment, for another process may be making it. */
async function becomesWhole(session: Session, name: string, signal: AbortSignal): Promise<boolean> {
  for (const waitedMs = stopwatch(); ;) {
    if (await isWhole(session, name, signal)) return true
    if (waitedMs() > MOMENT_MS || !(await findVolume(session, name, signal))) return false
    await session.call(`wait for ${name}`, signal, () => pause(LOOK_AGAIN_MS, signal))
  }
}

/** The template is looked for once more when the layer is there: whoever removes a template looks for layers after he has unmarked it, so
 *  one of the two sees the other. */
async function layOnTemplate(session: Session, { vmId, generation, diskGiB, template }: MachineSpec, signal: AbortSignal): Promise<void> {
  const { path, capacityBytes } = await ensureTemplate(session, template, signal)
  const name = diskName(vmId, generation)
  await createVolume(session, { name, format: 'qcow2', capacityBytes: Math.max(diskGiB * GIB, capacityBytes), backing: path }, signal)
  if (await isWhole(session, templateName(template.id), signal)) return
  await removeVolume(session, name, signal)
  throw new DriverError('transient', `Template ${template.id} was removed from host ${session.hostId} a moment ago`)
}

type Copy = Exclude<DiskSource, { from: 'template' }>

async function copyFrom(session: Session, spec: MachineSpec, source: Copy, signal: AbortSignal): Promise<void> {
  const { vmId, generation } = spec
  const copied = source.from === 'snapshot' ? snapshotName(vmId, source.snapshotId) : backupName(vmId, source.backupId)
  const from = await findWhole(session, copied, signal)
  if (!from) throw new DriverError('not_found', `Host ${session.hostId} has no whole ${copied}`)
  const capacityBytes = await capacityOf(session, from, signal)
  const disk = await createVolume(session, { name: diskName(vmId, generation), format: 'qcow2', capacityBytes }, signal, from)
  await growTo(session, disk, spec.diskGiB * GIB, signal)
}

async function writeSeed(session: Session, spec: MachineSpec, signal: AbortSignal): Promise<void> {
  const image = seedImage(spec)
  const name = seedName(spec.vmId, spec.generation)
  const volume = await createVolume(session, { name, format: 'raw', capacityBytes: image.length }, signal)
  await upload(session, volume, [image], signal)
}
