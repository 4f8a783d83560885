// Disks, their seeds and the templates they are layers on.
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { GIB, DriverError, type DiskSource, type Machines, type MachineSpec, type TemplateRef, type Templates } from '../driver.ts'
import type { Pause, SimulatedHost } from './host.ts'
import { lockRow } from './definition.ts'
import { backupName, beginVolume, completeVolume, diskName, findVolume, removeVolumes, seedName, snapshotName } from './volumes.ts'
import { templateName, usedOf, requireComplete, type Content, type NewVolume } from './volumes.ts'

const TEMPLATE_BYTES = GIB
const SEED_BYTES = 2 ** 20

export function diskMethods(host: SimulatedHost): Pick<Machines, 'ensureDisk' | 'ensureNoDisk'> & Templates {
  const { hostId, db, call, pace } = host
  return {
    ensureDisk: (spec, source, signal) => call('ensureDisk', signal, (pause) => ensureDisk(host, spec, source, pause)),

    ensureNoDisk: (vmId, generation, signal) =>
      call('ensureNoDisk', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        await db.tx(async (tx) => {
          if ((await lockRow(tx, hostId, vmId))?.generation === generation)
            throw new DriverError('in_use', `Machine ${vmId} is defined with the disk of generation ${generation}`)
          await removeVolumes(tx, hostId, sql`name = any(${[diskName(vmId, generation), seedName(vmId, generation)]})`)
        })
      }),

    ensureTemplate: (template, signal) => call('ensureTemplate', signal, (pause) => ensureTemplate(host, template, pause)),

    ensureNoTemplate: (templateId, signal) =>
      call('ensureNoTemplate', signal, async (pause) => {
        const name = templateName(templateId)
        await db.tx(async (tx) => {
          await tx.maybe(sql`select from simulated.volumes where host_id = ${hostId} and name = ${name} for update`)
          if (await isParent(tx, hostId, name)) throw new DriverError('in_use', `Disks on simulated host ${hostId} are built on ${name}`)
          await removeVolumes(tx, hostId, sql`name = ${name}`)
        })
        await pause(pace.delays.overlayMs)
      }),
  }
}

export const isParent = async (queries: Queries, hostId: string, name: string): Promise<boolean> =>
  (await queries.maybe(sql`select from simulated.volumes where host_id = ${hostId} and parent = ${name} limit 1`)) !== undefined

async function ensureTemplate({ hostId, db, pace }: SimulatedHost, { id }: TemplateRef, pause: Pause): Promise<void> {
  const name = templateName(id)
  if ((await findVolume(db, hostId, name))?.is_complete) return
  await db.tx((tx) => beginVolume(tx, hostId, { name, kind: 'template', id, capacityBytes: TEMPLATE_BYTES, sizeBytes: TEMPLATE_BYTES }))
  await pause(pace.delays.copyMsPerGiB)
  await completeVolume(db, hostId, name)
}

async function ensureDisk(host: SimulatedHost, spec: MachineSpec, source: DiskSource, pause: Pause): Promise<void> {
  const { hostId, db, pace } = host
  const name = diskName(spec.vmId, spec.generation)
  const seed = seedName(spec.vmId, spec.generation)
  if ((await findVolume(db, hostId, name))?.is_complete) return
  if (source.from === 'template') await ensureTemplate(host, spec.template, pause)
  const sizeBytes = await db.tx(async (tx) => {
    const owner = { id: spec.vmId, vmId: spec.vmId, generation: spec.generation }
    const filling = await firstContent(tx, hostId, spec, source)
    await beginVolume(tx, hostId, { ...filling, ...owner, name, kind: 'disk' })
    await beginVolume(tx, hostId, { ...owner, name: seed, kind: 'seed', capacityBytes: SEED_BYTES, sizeBytes: SEED_BYTES })
    return filling.sizeBytes
  })
  await pause(source.from === 'template' ? pace.delays.overlayMs : (pace.delays.copyMsPerGiB * sizeBytes) / GIB)
  await db.tx(async (tx) => {
    await completeVolume(tx, hostId, name)
    await completeVolume(tx, hostId, seed)
  })
}

type Filling = Pick<NewVolume, 'capacityBytes' | 'sizeBytes' | 'content' | 'parent'>

/** A new guest, or a copy; never smaller than its source. */
async function firstContent(tx: Tx, hostId: string, spec: MachineSpec, source: DiskSource): Promise<Filling> {
  const wanted = spec.diskGiB * GIB
  if (source.from === 'template') {
    const parent = templateName(spec.template.id)
    const kept = await tx.maybe(sql`select from simulated.volumes where host_id = ${hostId} and name = ${parent} for key share`)
    if (!kept) throw new DriverError('transient', `${parent} was removed from simulated host ${hostId} a moment ago`)
    return { capacityBytes: wanted, sizeBytes: usedOf(wanted), content: freshGuest(spec), parent }
  }
  const copied =
    source.from === 'snapshot' ? snapshotName(spec.vmId, source.snapshotId) : await wholeChain(tx, hostId, spec.vmId, source.backupId)
  const { capacity_bytes, content } = await requireComplete(tx, hostId, copied)
  const capacityBytes = Math.max(wanted, Number(capacity_bytes))
  return { capacityBytes, sizeBytes: usedOf(capacityBytes), content }
}

const freshGuest = ({ vmId, generation, seed }: MachineSpec): Content => ({ instanceId: `${vmId}-${generation}`, ...seed, files: {} })

/** An incremental backup is useless without all of its parents. */
async function wholeChain(tx: Tx, hostId: string, vmId: string, backupId: string): Promise<string> {
  const name = backupName(vmId, backupId)
  for (let link: string | null = name; link;) link = (await requireComplete(tx, hostId, link)).parent
  return name
}
