// ISO images of accounts: files of the pool that guests only read. A customer chooses their bytes: they are raw wherever they are named, and the image folder
// keeps only what is ISO 9660, which libvirtd recognises before any format that could name another file.
import type { Volume } from '@berth/libvirt'
import { DriverError, type IsoRef } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { isoName } from '../core/resource-names.ts'
import { eachDomain } from '../domain/lookup.ts'
import { isoIdIn } from '../xml/drive-xml.ts'
import { uploadShared } from './templates.ts'
import { clearCompleteMark, findComplete, findVolume, isComplete, markComplete, removeVolume } from './volumes.ts'

/** Its path on the host. */
export async function ensureIso(context: HostContext, iso: IsoRef, signal: AbortSignal): Promise<string> {
  const name = isoName(iso.imageId)
  const file = await context.exclusive(
    `iso:${iso.imageId}`,
    signal,
    async () => (await findComplete(context, name, signal)) ?? (await uploadIso(context, iso, signal)),
  )
  return file.key
}

function uploadIso(context: HostContext, iso: IsoRef, signal: AbortSignal): Promise<Volume> {
  const { imageId, checksum, sizeBytes } = iso
  const open = async () => {
    const { path } = await openFile(context, iso)
    return { path, format: 'raw', capacityBytes: sizeBytes, fileBytes: sizeBytes, checksum } as const
  }
  return uploadShared(context, isoName(imageId), open, signal)
}

async function openFile({ isos, hostId }: HostContext, iso: IsoRef): Promise<{ path: string }> {
  const missing = `There is no ISO image ${iso.imageId} for host ${hostId}`
  if (!isos) throw new DriverError('iso_missing', missing)
  return isos.openIso(iso).catch((error: unknown) => {
    if (error instanceof DriverError && error.kind !== 'not_found') throw error
    throw new DriverError('iso_missing', `${missing}: ${(error as Error).message}`, { cause: error })
  })
}

/** For a machine that was just defined with it: removal clears the mark first, and looks for machines after that. Either side detects the race. */
export async function requireIso(context: HostContext, { imageId }: IsoRef, signal: AbortSignal): Promise<void> {
  if (await isComplete(context, isoName(imageId), signal)) return
  throw new DriverError('transient', `ISO image ${imageId} was removed from host ${context.hostId} meanwhile`)
}

export async function removeIso(context: HostContext, imageId: string, signal: AbortSignal): Promise<void> {
  const name = isoName(imageId)
  if (!(await findVolume(context, name, signal))) return removeVolume(context, name, signal)
  await requireUnused(context, imageId, signal)
  const wasComplete = await isComplete(context, name, signal)
  await clearCompleteMark(context, name, signal)
  try {
    await requireUnused(context, imageId, signal)
  } catch (error) {
    if (wasComplete) await markComplete(context, name, signal)
    throw error
  }
  await removeVolume(context, name, signal)
}

async function requireUnused(context: HostContext, imageId: string, signal: AbortSignal): Promise<void> {
  for await (const { domain, xml } of eachDomain(context, signal))
    if (isoIdIn(xml) === imageId) throw new DriverError('in_use', `${domain.name} on host ${context.hostId} has ISO image ${imageId}`)
}
