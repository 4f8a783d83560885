// Templates are carried to a host when first needed, and stay there unchanged while a disk is built on them.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Volume } from '@berth/libvirt'
import { DriverError, type TemplateRef, type Templates } from '../driver.ts'
import { orMissing } from './errors.ts'
import type { Image } from './image-source.ts'
import { POOL, readVolumeName, templateName } from './names.ts'
import type { Session } from './session.ts'
import { describeVolume, findVolume, findWhole, isWhole, markWhole, removeVolume, tryCreate, unmark, upload } from './volumes.ts'
import { pause } from './waiting.ts'
import { readXml } from './xml.ts'

export const templateVerbs = (session: Session): Templates => ({
  ensureTemplate: async (template, signal) => void (await ensureTemplate(session, template, signal)),
  ensureNoTemplate: (templateId, signal) =>
    session.alone(`template:${templateId}`, signal, () => removeTemplate(session, templateId, signal)),
})

export interface TemplateOnHost {
  path: string
  capacityBytes: number
}

export async function ensureTemplate(session: Session, template: TemplateRef, signal: AbortSignal): Promise<TemplateOnHost> {
  const volume = await session.alone(`template:${template.id}`, signal, async () => {
    return (await findWhole(session, templateName(template.id), signal)) ?? (await carry(session, template, signal))
  })
  const xml = await describeVolume(session, volume, signal)
  return { path: volume.key, capacityBytes: Number(xml.find('capacity')?.text) }
}

async function carry(session: Session, template: TemplateRef, signal: AbortSignal): Promise<Volume> {
  const name = templateName(template.id)
  for (;;) {
    const carried = await awaitOtherCarrier(session, name, signal)
    if (carried) return carried
    const image = await openImage(session, template)
    const volume = await tryCreate(session, { name, format: 'qcow2', capacityBytes: image.virtualBytes }, signal)
    if (volume) return fill(session, volume, image, signal)
  }
}

async function fill(session: Session, volume: Volume, image: Image, signal: AbortSignal): Promise<Volume> {
  session.log.info({ hostId: session.hostId, volume: volume.name, bytes: image.fileBytes }, 'carrying a template to the host')
  await upload(session, volume, createReadStream(image.path), signal)
  await requireChecksum(session, volume, image, signal)
  await markWhole(session, volume.name, signal)
  return volume
}

async function openImage({ images, hostId }: Session, template: TemplateRef): Promise<Image> {
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
async function awaitOtherCarrier(session: Session, name: string, signal: AbortSignal): Promise<Volume | undefined> {
  for (let before = -1n; ;) {
    const volume = await findVolume(session, name, signal)
    if (!volume || (await isWhole(session, name, signal))) return volume
    // While libvirt makes a volume it is listed at times and unknown at others.
    const info = await session.call(`watch ${name}`, signal, (host) => orMissing(host.volumes.getInfo({ volume, flags: ['physical'] })))
    if (info && info.allocation === before) return removeVolume(session, name, signal).then(() => undefined)
    before = info?.allocation ?? -1n
    await session.call(`wait for ${name}`, signal, () => pause(STANDSTILL_MS, signal))
  }
}

/** Of what is on the host now, read back from there: whatever went wrong on the way is found before a guest boots from it. */
async function requireChecksum({ call, hostId }: Session, volume: Volume, image: Image, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  await call(`check ${volume.name}`, signal, async (host) => pipeline(await host.volumes.download({ volume }), hash, { signal }))
  const checksum = `sha256:${hash.digest('hex')}`
  if (checksum !== image.checksum)
    throw new DriverError('transient', `${volume.name} arrived on host ${hostId} as ${checksum} instead of ${image.checksum}`)
}

/** Unmarked first, so that no disk is laid on it any more; then looked at again, for one that was laid on it meanwhile. */
async function removeTemplate(session: Session, templateId: string, signal: AbortSignal): Promise<void> {
  const name = templateName(templateId)
  const volume = await findVolume(session, name, signal)
  if (!volume) return removeVolume(session, name, signal)
  await refuseWhileUsed(session, volume, signal)
  const wasWhole = await isWhole(session, name, signal)
  await unmark(session, name, signal)
  try {
    await refuseWhileUsed(session, volume, signal)
  } catch (error) {
    if (wasWhole) await markWhole(session, name, signal)
    throw error
  }
  await removeVolume(session, name, signal)
}

async function refuseWhileUsed({ call, hostId }: Session, template: Volume, signal: AbortSignal): Promise<void> {
  const user = await call(`look who uses ${template.name}`, signal, async (host) => {
    for (const volume of await host.pools.listAllVolumes({ pool: await host.pools.lookupByName({ name: POOL }) })) {
      if (!['disk', 'snapshot', 'backup'].includes(readVolumeName(volume.name).kind)) continue
      const xml = await orMissing(host.volumes.getXml({ volume }))
      if (xml && readXml(xml).find('backingStore/path')?.text === template.key) return volume.name
    }
    return undefined
  })
  if (user) throw new DriverError('in_use', `${user} on host ${hostId} is built on ${template.name}`)
}
