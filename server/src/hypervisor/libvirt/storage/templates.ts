// Templates are uploaded to a host at first use, and stay there unchanged while a disk is a layer on them.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Volume } from '@berth/libvirt'
import { DriverError, type TemplateRef, type Templates } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import type { Image } from '../../image-source.ts'
import { STORAGE_POOL, readVolumeName, templateName } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import {
  describeVolume,
  findVolume,
  findComplete,
  isComplete,
  markComplete,
  removeVolume,
  tryCreate,
  clearCompleteMark,
  upload,
} from './volumes.ts'
import { readXml } from '../core/xml.ts'

export const templateMethods = (context: HostContext): Templates => ({
  ensureTemplate: async (template, signal) => void (await ensureTemplate(context, template, signal)),
  ensureNoTemplate: (templateId, signal) =>
    context.exclusive(`template:${templateId}`, signal, () => removeTemplate(context, templateId, signal)),
})

export interface TemplateOnHost {
  path: string
  capacityBytes: number
}

export async function ensureTemplate(context: HostContext, template: TemplateRef, signal: AbortSignal): Promise<TemplateOnHost> {
  const volume = await context.exclusive(`template:${template.id}`, signal, async () => {
    return (await findComplete(context, templateName(template.id), signal)) ?? (await uploadTemplate(context, template, signal))
  })
  const xml = await describeVolume(context, volume, signal)
  return { path: volume.key, capacityBytes: Number(xml.find('capacity')?.text) }
}

const uploadTemplate = (context: HostContext, template: TemplateRef, signal: AbortSignal): Promise<Volume> =>
  uploadShared(
    context,
    templateName(template.id),
    async () => {
      const image = await openImage(context, template)
      return { ...image, capacityBytes: image.virtualBytes }
    },
    signal,
  )

/** A file of this machine, for all guests of the host to read. */
interface SharedFile {
  path: string
  format: 'qcow2' | 'raw'
  /** What guests see of it. */
  capacityBytes: number
  fileBytes: number
  checksum: string
}

export async function uploadShared(
  context: HostContext,
  name: string,
  open: () => Promise<SharedFile>,
  signal: AbortSignal,
): Promise<Volume> {
  for (;;) {
    const uploaded = await awaitConcurrentUpload(context, name, signal)
    if (uploaded) return uploaded
    const file = await open()
    const { format, capacityBytes } = file
    const volume = await tryCreate(context, { name, format, capacityBytes, isShared: true }, signal)
    if (volume) return fill(context, volume, file, signal)
  }
}

async function fill(context: HostContext, volume: Volume, file: SharedFile, signal: AbortSignal): Promise<Volume> {
  context.log.info({ hostId: context.hostId, volume: volume.name, bytes: file.fileBytes }, 'upload to host started')
  await upload(context, volume, createReadStream(file.path), signal)
  await requireChecksum(context, volume, file, signal)
  await markComplete(context, volume.name, signal)
  return volume
}

export async function openImage({ images, hostId }: HostContext, template: TemplateRef): Promise<Image> {
  const image = await images.open(template).catch((error: unknown) => {
    if (error instanceof DriverError) throw error
    throw new DriverError('not_found', `There is no image of template ${template.slug} for host ${hostId}: ${(error as Error).message}`, {
      cause: error,
    })
  })
  if (image.arch === template.arch) return image
  throw new DriverError('unsupported', `The image of template ${template.slug} is for ${image.arch}, not ${template.arch}`)
}

const STALL_MS = 3_000

/** Waits for the upload of another process while its volume grows. A volume that does not grow was left by a dead process and is removed. */
async function awaitConcurrentUpload(context: HostContext, name: string, signal: AbortSignal): Promise<Volume | undefined> {
  for (let before = -1n; ;) {
    const volume = await findVolume(context, name, signal)
    if (!volume || (await isComplete(context, name, signal))) return volume
    // While libvirt creates a volume, look-ups find it intermittently.
    const info = await context.call(`watch ${name}`, signal, (host) =>
      undefinedIfNotFound(host.volumes.getInfo({ volume, flags: ['physical'] })),
    )
    if (info && info.allocation === before) return removeVolume(context, name, signal).then(() => undefined)
    before = info?.allocation ?? -1n
    await context.pause(`wait for ${name}`, STALL_MS, signal)
  }
}

/** Downloads the volume again and compares its checksum, so that a damaged upload is found before a guest boots from it. */
async function requireChecksum({ call, hostId }: HostContext, volume: Volume, file: SharedFile, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  await call(`check ${volume.name}`, signal, async (host) => pipeline(await host.volumes.download({ volume }), hash, { signal }))
  const checksum = `sha256:${hash.digest('hex')}`
  if (checksum !== file.checksum)
    throw new DriverError('transient', `${volume.name} on host ${hostId} has checksum ${checksum} instead of ${file.checksum}`)
}

/** Removal clears the marker, then re-checks for dependents; creation of a disk re-checks the marker. Either side detects the race. */
async function removeTemplate(context: HostContext, templateId: string, signal: AbortSignal): Promise<void> {
  const name = templateName(templateId)
  const volume = await findVolume(context, name, signal)
  if (!volume) return removeVolume(context, name, signal)
  await requireUnused(context, volume, signal)
  const wasComplete = await isComplete(context, name, signal)
  await clearCompleteMark(context, name, signal)
  try {
    await requireUnused(context, volume, signal)
  } catch (error) {
    if (wasComplete) await markComplete(context, name, signal)
    throw error
  }
  await removeVolume(context, name, signal)
}

async function requireUnused({ call, hostId }: HostContext, template: Volume, signal: AbortSignal): Promise<void> {
  const user = await call(`find dependents of ${template.name}`, signal, async (host) => {
    for (const volume of await host.pools.listAllVolumes({ pool: await host.pools.lookupByName({ name: STORAGE_POOL }) })) {
      if (!['disk', 'snapshot', 'backup'].includes(readVolumeName(volume.name).kind)) continue
      const xml = await undefinedIfNotFound(host.volumes.getXml({ volume }))
      if (xml && readXml(xml).find('backingStore/path')?.text === template.key) return volume.name
    }
    return undefined
  })
  if (user) throw new DriverError('in_use', `${user} on host ${hostId} is a layer on ${template.name}`)
}
