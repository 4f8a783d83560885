// Volumes of the storage pool: find, create, upload, remove. A volume is complete while its marker exists (core/resource-names.ts).
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ErrorCode, hasCode, type Host, type Volume } from '@berth/libvirt'
import { isDriverError } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { markerName, readVolumeName, STORAGE_POOL } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { PEER_TIMEOUT_MS, pollUntil, pollUntilTrue } from '../core/poll.ts'
import type { DiskFile } from '../xml/domain-xml.ts'
import { element, readXml, type Element, type Xml } from '../core/xml.ts'

export async function findVolume({ call }: HostContext, name: string, signal: AbortSignal): Promise<Volume | undefined> {
  return call(`find ${name}`, signal, (host) => lookUp(host, name))
}

const lookUp = async (host: Host, name: string): Promise<Volume | undefined> =>
  undefinedIfNotFound(host.volumes.lookupByName({ pool: await host.pools.lookupByName({ name: STORAGE_POOL }), name }))

export const describeVolume = ({ call }: HostContext, volume: Volume, signal: AbortSignal): Promise<Element> =>
  call(`read ${volume.name}`, signal, async (host) => readXml(await host.volumes.getXml({ volume })))

/** The id of the backup that an incremental backup is a layer on. */
export function parentOf(volume: Element): string | null {
  const path = volume.find('backingStore/path')?.text.trim()
  return path ? readVolumeName(path.slice(path.lastIndexOf('/') + 1)).id : null
}

/** Of a disk. */
export const readDiskFile = async (context: HostContext, volume: Volume, signal: AbortSignal): Promise<DiskFile> => ({
  path: volume.key,
  backing: (await describeVolume(context, volume, signal)).find('backingStore/path')?.text.trim() ?? null,
})

/** Undefined unless it is complete. */
export const findComplete = async (context: HostContext, name: string, signal: AbortSignal): Promise<Volume | undefined> =>
  (await findVolume(context, markerName(name), signal)) && findVolume(context, name, signal)

export const isComplete = async (context: HostContext, name: string, signal: AbortSignal): Promise<boolean> =>
  (await findComplete(context, name, signal)) !== undefined

/** Another process has uploaded all bytes a moment before it creates the marker. */
export const waitUntilComplete = (context: HostContext, name: string, signal: AbortSignal): Promise<boolean> =>
  pollUntilTrue(context, `wait for ${name}`, signal, () => isComplete(context, name, signal), { timeoutMs: PEER_TIMEOUT_MS })

/** Waits for an incomplete one: another process may be creating it. */
export const becomesComplete = async (context: HostContext, name: string, signal: AbortSignal): Promise<boolean> => {
  const read = async (): Promise<boolean | undefined> => {
    if (await isComplete(context, name, signal)) return true
    return (await findVolume(context, name, signal)) ? undefined : false
  }
  return (await pollUntil(context, `wait for ${name}`, signal, read, { timeoutMs: PEER_TIMEOUT_MS })) ?? false
}

/** Creates the marker: the last step of creating a volume. */
export const markComplete = async (context: HostContext, name: string, signal: AbortSignal): Promise<void> =>
  void (await tryCreateMarker(context, markerName(name), signal))

/** Creates an empty volume; false when it exists already. */
export const tryCreateMarker = ({ call }: HostContext, name: string, signal: AbortSignal): Promise<boolean> =>
  call(`create ${name}`, signal, async (host) => {
    const pool = await host.pools.lookupByName({ name: STORAGE_POOL })
    const made = host.volumes.create({ pool, xml: volumeXml({ name, format: 'raw', capacityBytes: 0 }).xml })
    return made.then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, ErrorCode.volumeExists)) return false
        throw error
      },
    )
  })

export interface NewVolume {
  name: string
  format: 'raw' | 'qcow2'
  capacityBytes: number
  /** The path of the qcow2 file that it is a layer on. */
  backing?: string
  /** Readable to the users of all guests, as a template must be. */
  isShared?: boolean
}

/** qcow2 of compat level 1.1, which dirty bitmaps and thus incremental backups need. Root's: libvirt makes the VM's user the owner of what its
 *  QEMU opens, and root again afterwards. */
export const volumeXml = ({ name, format, capacityBytes, backing, isShared = false }: NewVolume): Xml =>
  element(
    'volume',
    {},
    element('name', {}, name),
    element('capacity', { unit: 'bytes' }, capacityBytes),
    format === 'raw' && element('allocation', {}, 0),
    element(
      'target',
      {},
      element('format', { type: format }),
      element('permissions', {}, element('mode', {}, isShared ? '0644' : '0600')),
      format === 'qcow2' && element('compat', {}, '1.1'),
    ),
    backing !== undefined && element('backingStore', {}, element('path', {}, backing), element('format', { type: 'qcow2' })),
  )

/** Creates it, or copies it on the host from another volume. Removes a volume of that name first, which a dead process left. */
export async function createVolume(context: HostContext, volume: NewVolume, signal: AbortSignal, from?: Volume): Promise<Volume> {
  await removeVolume(context, volume.name, signal)
  return create(context, volume, signal, from)
}

/** Undefined when another process has just created it. */
export const tryCreate = (context: HostContext, volume: NewVolume, signal: AbortSignal): Promise<Volume | undefined> =>
  create(context, volume, signal).catch((error: unknown) => {
    if (isDriverError(error, 'conflict')) return undefined
    throw error
  })

/** Long enough for a large disk. Callers abort earlier through their signal. */
export const COPY_MS = 6 * 60 * 60_000

const create = (context: HostContext, volume: NewVolume, signal: AbortSignal, from?: Volume): Promise<Volume> =>
  context.call(`create ${volume.name}`, signal, async (host) => {
    const pool = await host.pools.lookupByName({ name: STORAGE_POOL })
    const { xml } = volumeXml(volume)
    return from ? host.volumes.createFrom({ pool, xml, from }, { timeoutMs: COPY_MS }) : host.volumes.create({ pool, xml })
  })

export async function upload(
  context: HostContext,
  volume: Volume,
  content: Readable | Iterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  await context.call(`upload ${volume.name}`, signal, async (host) => pipeline(content, await host.volumes.upload({ volume }), { signal }))
}

/** The marker first. Waits while the daemon is still allocating the volume or copying from it. */
export async function removeVolume(context: HostContext, name: string, signal: AbortSignal): Promise<void> {
  await clearCompleteMark(context, name, signal)
  await removeOne(context, name, signal)
}

/** Makes the volume incomplete. */
export const clearCompleteMark = (context: HostContext, name: string, signal: AbortSignal): Promise<void> =>
  removeOne(context, markerName(name), signal)

async function removeOne(context: HostContext, name: string, signal: AbortSignal): Promise<void> {
  const what = `remove ${name}`
  await pollUntilTrue(context, what, signal, () =>
    context.call(what, signal, async (host) => {
      const volume = await lookUp(host, name)
      if (!volume) return true
      return undefinedIfNotFound(host.volumes.delete({ volume })).then(() => true, retryIfBusy)
    }),
  )
}

/** It is still being allocated, or copied from. The look-up before it fails with the same code when the pool is inactive. */
function retryIfBusy(error: unknown): false {
  if (hasCode(error, ErrorCode.operationInvalid)) return false
  throw error
}
