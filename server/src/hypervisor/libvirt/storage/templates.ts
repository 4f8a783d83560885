// Templates are carried to a host when first needed, and stay there unchanged while a disk is built on them.
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

async function uploadTemplate(context: HostContext, template: TemplateRef, signal: AbortSignal): Promise<Volume> {
  const name = templateName(template.id)
  for (;;) {
    const carried = await awaitConcurrentUpload(context, name, signal)
    if (carried) return carried
    const image = await openImage(context, template)
    const volume = await tryCreate(context, { name, format: 'qcow2', capacityBytes: image.virtualBytes }, signal)
    if (volume) return fill(context, volume, image, signal)
  }
}

async function fill(context: HostContext, volume: Volume, image: Image, signal: AbortSignal): Promise<Volume> {
  context.log.info({ hostId: context.hostId, volume: volume.name, bytes: image.fileBytes }, 'carrying a template to the host')
  await upload(context, volume, createReadStream(image.path), signal)
  await requireChecksum(context, volume, image, signal)
  await markComplete(context, volume.name, signal)
  return volume
}

async function openImage({ images, hostId }: HostContext, template: TemplateRef): Promise<Image> {
  const image = await images.open(template).catch((error: unknown) => {
    throw new DriverError('not_found', `There is no image of template ${template.slug} for host ${hostId}: ${(error as Error).message}`, {
      cause: error,
    })
  })
  if (image.arch === template.arch) return image
  throw new DriverError('unsupported', `The image of template ${template.slug} is for ${image.arch}, not ${template.arch}`)
}

const STANDSTILL_MS = 3_000

/** Another process may be carrying it: as long as it gets on, it is waited for. What stands still was left by a dead one and goes. */
async function awaitConcurrentUpload(context: HostContext, name: string, signal: AbortSignal): Promise<Volume | undefined> {
  for (let before = -1n; ;) {
    const volume = await findVolume(context, name, signal)
    if (!volume || (await isComplete(context, name, signal))) return volume
    // While libvirt makes a volume it is listed at times and unknown at others.
    const info = await context.call(`watch ${name}`, signal, (host) =>
      undefinedIfNotFound(host.volumes.getInfo({ volume, flags: ['physical'] })),
    )
    if (info && info.allocation === before) return removeVolume(context, name, signal).then(() => undefined)
    before = info?.allocation ?? -1n
    await context.pause(`wait for ${name}`, STANDSTILL_MS, signal)
  }
}

/** Of what is on the host now, read back from there: whatever went wrong on the way is found before a guest boots from it. */
async function requireChecksum({ call, hostId }: HostContext, volume: Volume, image: Image, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  await call(`check ${volume.name}`, signal, async (host) => pipeline(await host.volumes.download({ volume }), hash, { signal }))
  const checksum = `sha256:${hash.digest('hex')}`
  if (checksum !== image.checksum)
    throw new DriverError('transient', `${volume.name} arrived on host ${hostId} as ${checksum} instead of ${image.checksum}`)
}

/** Unmarked first, so that no disk is laid on it any more; then looked at again, for one that was laid on it meanwhile. */
async function removeTemplate(context: HostContext, templateId: string, signal: AbortSignal): Promise<void> {
  const name = templateName(templateId)
  const volume = await findVolume(context, name, signal)
  if (!volume) return removeVolume(context, name, signal)
  await requireUnused(context, volume, signal)
  const wasWhole = await isComplete(context, name, signal)
  await clearCompleteMark(context, name, signal)
  try {
    await requireUnused(context, volume, signal)
  } catch (error) {
    if (wasWhole) await markComplete(context, name, signal)
    throw error
  }
  await removeVolume(context, name, signal)
}

async function requireUnused({ call, hostId }: HostContext, template: Volume, signal: AbortSignal): Promise<void> {
  const user = await call(`look who uses ${template.name}`, signal, async (host) => {
    for (const volume of await host.pools.listAllVolumes({ pool: await host.pools.lookupByName({ name: STORAGE_POOL }) })) {
      if (!['disk', 'snapshot', 'backup'].includes(readVolumeName(volume.name).kind)) continue
      const xml = await undefinedIfNotFound(host.volumes.getXml({ volume }))
      if (xml && readXml(xml).find('backingStore/path')?.text === template.key) return volume.name
    }
    return undefined
  })
  if (user) throw new DriverError('in_use', `${user} on host ${hostId} is built on ${template.name}`)
}
