// Disks, their seeds and the templates they are layers on.
import { open } from 'node:fs/promises'
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { GIB, DriverError, type DiskSource, type Machines, type MachineSpec, type TemplateRef, type Templates } from '../driver.ts'
import type { Image } from '../image-source.ts'
import { openQcow2Layer } from '../qcow2/read-layer.ts'
import { contentOf } from './content.ts'
import { initialize } from './initialization.ts'
import type { Pause, SimulatedHost } from './host.ts'
import { lockRow } from './definition.ts'
import {
  backupName,
  beginVolume,
  completeVolume,
  diskName,
  findVolume,
  pooledBackupName,
  removeVolumes,
  seedName,
  snapshotName,
  takeFromStorage,
} from './volumes.ts'
import { templateName, usedOf, requireComplete, type Content, type NewVolume } from './volumes.ts'

const TEMPLATE_BYTES = GIB
export const SEED_BYTES = 2 ** 20

export function diskMethods(host: SimulatedHost): Pick<Machines, 'ensureDisk' | 'ensureNoDisk'> & Templates {
  const { hostId, db, call, pace } = host
  return {
    ensureDisk: (spec, source, signal) => call('ensureDisk', signal, (pause) => ensureDisk(host, spec, source, pause)),

    ensureNoDisk: (vmId, generation, signal) =>
      call('ensureNoDisk', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        await db.tx(async (tx) => {
          const row = await lockRow(tx, hostId, vmId)
          if (row && [row.generation, row.rescue_generation].includes(generation))
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
          if (await isParent(tx, hostId, name, sql`storage_id is null`))
            throw new DriverError('in_use', `Disks on simulated host ${hostId} are built on ${name}`)
          await removeVolumes(tx, hostId, sql`name = ${name}`)
        })
        await pause(pace.delays.overlayMs)
      }),
  }
}

export const isParent = async (queries: Queries, hostId: string, name: string, which: Sql = sql`true`): Promise<boolean> =>
  (await queries.maybe(sql`select from simulated.volumes where host_id = ${hostId} and parent = ${name} and ${which} limit 1`)) !==
  undefined

export async function ensureTemplate({ hostId, db, pace }: SimulatedHost, { id }: TemplateRef, pause: Pause): Promise<void> {
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
  const { storageId } = spec
  if (storageId !== null) await db.tx((tx) => takeFromStorage(tx, hostId, spec.vmId, storageId, source.from === 'pool'))
  if (source.from === 'pool') await requireComplete(db, hostId, name)
  const isMade = (await findVolume(db, hostId, name))?.is_complete === true
  if (isMade && (await findVolume(db, hostId, seed))?.is_complete) return
  if (source.from === 'template' && storageId === null) await ensureTemplate(host, spec.template, pause)
  const files = source.from === 'template' && !isMade ? await filesOf(await host.findImage(spec.template)) : {}
  const sizeBytes = await db.tx(async (tx) => {
    const owner = { id: spec.vmId, vmId: spec.vmId, generation: spec.generation }
    const filling = isMade ? null : await firstContent(tx, hostId, spec, source, files)
    if (filling) await beginVolume(tx, hostId, { ...filling, ...owner, name, kind: 'disk', storageId })
    await beginVolume(tx, hostId, { ...owner, name: seed, kind: 'seed', capacityBytes: SEED_BYTES, sizeBytes: SEED_BYTES })
    return filling?.sizeBytes ?? 0
  })
  await pause(source.from === 'template' ? pace.delays.overlayMs : (pace.delays.copyMsPerGiB * sizeBytes) / GIB)
  await db.tx(async (tx) => {
    await completeVolume(tx, hostId, name)
    await completeVolume(tx, hostId, seed)
  })
}

type Filling = Pick<NewVolume, 'capacityBytes' | 'sizeBytes' | 'content' | 'parent'>

/** A new guest, or a copy; never smaller than its source. */
async function firstContent(tx: Tx, hostId: string, spec: MachineSpec, source: DiskSource, files: Content['files']): Promise<Filling> {
  if (source.from === 'pool') throw new DriverError('not_found', `VM ${spec.vmId} has no disk in a storage backend`)
  const wanted = spec.diskGiB * GIB
  const parent = templateName(spec.template.id)
  const fresh = { capacityBytes: wanted, sizeBytes: usedOf(wanted), content: { ...freshGuest(spec), files }, parent }
  if (source.from === 'template' && spec.storageId !== null) {
    await keepInStorage(tx, spec.storageId, spec.template.id)
    return fresh
  }
  if (source.from === 'template') {
    const kept = await tx.maybe(sql`select from simulated.volumes where host_id = ${hostId} and name = ${parent} for key share`)
    if (!kept) throw new DriverError('transient', `${parent} was removed from simulated host ${hostId} a moment ago`)
    return fresh
  }
  const copied =
    source.from === 'snapshot'
      ? snapshotName(spec.vmId, source.snapshotId)
      : spec.storageId === null
        ? await wholeChain(tx, hostId, spec.vmId, source.backupId)
        : pooledBackupName(spec.vmId, source.backupId)
  const { capacity_bytes, content } = await requireComplete(tx, hostId, copied)
  const capacityBytes = Math.max(wanted, Number(capacity_bytes))
  return { capacityBytes, sizeBytes: usedOf(capacityBytes), content: isOwn(content, spec) ? content : configured(content, spec) }
}

/** The template, until the end of the transaction at least. A storage backend stands in for the host of what no machine has. */
async function keepInStorage(tx: Tx, storageId: string, templateId: string): Promise<void> {
  const size = { capacityBytes: TEMPLATE_BYTES, sizeBytes: TEMPLATE_BYTES }
  await beginVolume(tx, storageId, { name: templateName(templateId), kind: 'template', id: templateId, ...size, storageId })
  await completeVolume(tx, storageId, templateName(templateId))
}

const isOwn = ({ instanceId }: Partial<Content>, { vmId, seed }: MachineSpec): boolean =>
  instanceId?.startsWith(`${seed.instanceId ?? vmId}-`) ?? true

/** A copy of another VM finds a seed that it does not know. */
const configured = (content: Partial<Content>, spec: MachineSpec): Partial<Content> => ({
  ...content,
  ...freshGuest(spec),
  files: content.files ?? {},
})

/** User data may hold secrets: only what came of it is kept. */
const freshGuest = ({ vmId, generation, seed: { userData, ...seed } }: MachineSpec): Content => ({
  instanceId: `${vmId}-${generation}`,
  ...seed,
  ...(userData && { initialization: initialize(userData) }),
  files: {},
})

/** Of the guest that the image was made of; none in an image that was imported. */
async function filesOf(image: Image | undefined): Promise<Content['files']> {
  if (!image) return {}
  const file = await open(image.path)
  try {
    const read = async (position: number, length: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
      return buffer.subarray(0, bytesRead)
    }
    const { files = {} } = await contentOf((await openQcow2Layer(read)).extents(), image.checksum)
    return files
  } catch {
    return {}
  } finally {
    await file.close()
  }
}

/** An incremental backup is useless without all of its parents. */
async function wholeChain(tx: Tx, hostId: string, vmId: string, backupId: string): Promise<string> {
  const name = backupName(vmId, backupId)
  for (let link: string | null = name; link;) link = (await requireComplete(tx, hostId, link)).parent
  return name
}
