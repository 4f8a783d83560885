// Backups as byte streams, to be stored on another host. The backing file of a backup is a relative name, so a chain is valid wherever its
// files are in one folder.
import { addAbortSignal, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Volume } from '@berth/libvirt'
import { DriverError, type BackupRequest, type SnapshotsAndBackups } from '../../driver.ts'
import type { DiskLayer } from '../../extent.ts'
import type { PoolBackup } from '../../rbd/backups.ts'
import type { RbdPool } from '../../rbd/pool.ts'
import { openQcow2Layer, type ReadFile } from '../../qcow2/read-layer.ts'
import { writeQcow2Image } from '../../qcow2/write-image.ts'
import { completeCopy, fileBytes } from './copy.ts'
import { backupName, snapshotName } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { findPool, getPool, markPool } from '../storage/backends.ts'
import { createVolume, findComplete, isComplete, upload } from '../storage/volumes.ts'
import { destroyIfAborted } from '../core/abortable.ts'

type BackupTransferMethods = Pick<
  SnapshotsAndBackups,
  'readSnapshotExtents' | 'readBackup' | 'ensureBackupCopy' | 'readBackupExtents' | 'ensureBackupFromExtents'
>

export function backupTransferMethods(context: HostContext): BackupTransferMethods {
  const ensureBackupCopy: SnapshotsAndBackups['ensureBackupCopy'] = (vmId, copy, open, signal) =>
    context.exclusive(`copy:${vmId}`, signal, async () => {
      const name = backupName(vmId, copy.backupId)
      if (!(await isComplete(context, name, signal)))
        await receiveAndClose(await openSource(context, vmId, copy, open, signal), context, vmId, copy, signal)
      const volume = await findComplete(context, name, signal)
      if (!volume) throw missing(context, vmId, copy.backupId)
      return { sizeBytes: await fileBytes(context, volume, signal) }
    })

  return {
    ensureBackupCopy,

    readBackup: async (vmId, backupId, signal) => {
      const volume = await findComplete(context, backupName(vmId, backupId), signal)
      if (!volume) return readFromPool(await getInPool(context, vmId, backupId, signal), vmId, signal)
      const bytes = await context.call(`read backup ${backupId}`, signal, async (host) =>
        destroyIfAborted(await host.volumes.download({ volume }), signal),
      )
      return addAbortSignal(signal, bytes)
    },

    readBackupExtents: async (vmId, backupId, signal) => {
      const volume = await findComplete(context, backupName(vmId, backupId), signal)
      if (volume) return readLayer(context, volume, signal)
      const { pool, backup } = await getInPool(context, vmId, backupId, signal)
      return pool.readLayer(backup, signal)
    },

    readSnapshotExtents: async (vmId, snapshotId, signal) => {
      const pool = await findPool(context, vmId, signal)
      const snapshot = await pool?.findSnapshot(vmId, snapshotId, signal)
      if (pool && snapshot) return pool.readLayer(snapshot, signal)
      const volume = await findComplete(context, snapshotName(vmId, snapshotId), signal)
      if (!volume) throw new DriverError('not_found', `Host ${context.hostId} has no complete snapshot ${snapshotId} of ${vmId}`)
      return readLayer(context, volume, signal)
    },

    ensureBackupFromExtents: async (vmId, { backupId, storageId }, open, signal) => {
      if (storageId !== null) {
        const pool = await getPool(context, storageId)
        await markPool(context, vmId, pool, signal)
        return pool.ensureBackupImage(vmId, backupId, open, signal)
      }
      const image = async (): Promise<Readable> => Readable.from(writeQcow2Image(await open()), { objectMode: false })
      await ensureBackupCopy(vmId, { backupId, parentId: null }, image, signal)
    },
  }
}

interface InPool {
  pool: RbdPool
  backup: PoolBackup
}

async function getInPool(context: HostContext, vmId: string, backupId: string, signal: AbortSignal): Promise<InPool> {
  const pool = await findPool(context, vmId, signal)
  const backup = await pool?.findBackup(vmId, backupId, signal)
  if (!pool || !backup) throw missing(context, vmId, backupId)
  return { pool, backup }
}

/** As a file that a host can store. Objects of the pool are of whole clusters. */
async function readFromPool({ pool, backup }: InPool, vmId: string, signal: AbortSignal): Promise<Readable> {
  const { allocated, zeroed } = await pool.listChanges(backup, signal)
  const { sizeBytes, extents } = pool.readLayer(backup, signal, { inWholeObjects: true })
  const layer = backup.parentId === null ? {} : { backing: backupName(vmId, backup.parentId), zeroed }
  const image = writeQcow2Image({ sizeBytes, allocated, extents, ...layer })
  return addAbortSignal(signal, Readable.from(image, { objectMode: false }))
}

async function readLayer(context: HostContext, volume: Volume, signal: AbortSignal): Promise<DiskLayer> {
  const read: ReadFile = (offset, length) =>
    context.call(`read ${volume.name}`, signal, async (host) => {
      const range = { volume, offset: BigInt(offset), length: BigInt(length) }
      return buffer(addAbortSignal(signal, destroyIfAborted(await host.volumes.download(range), signal)))
    })
  const layer = await context.call(`read the tables of ${volume.name}`, signal, () => openQcow2Layer(read))
  return { ...layer, extents: layer.extents() }
}

const missing = ({ hostId }: HostContext, vmId: string, backupId: string): DriverError =>
  new DriverError('not_found', `Host ${hostId} has no complete backup ${backupId} of ${vmId}`)

async function openSource(
  context: HostContext,
  vmId: string,
  { parentId }: BackupRequest,
  open: () => Promise<Readable>,
  signal: AbortSignal,
) {
  if (parentId && !(await isComplete(context, backupName(vmId, parentId), signal))) throw missing(context, vmId, parentId)
  return open()
}

/** Always destroys the source stream: it would keep the backup open, and its space allocated, as long as this process lives. */
async function receiveAndClose(
  bytes: Readable,
  context: HostContext,
  vmId: string,
  copy: BackupRequest,
  signal: AbortSignal,
): Promise<void> {
  try {
    await receive(context, vmId, copy, bytes, signal)
  } finally {
    bytes.destroy()
  }
}

/** The volume is created with the virtual size of the qcow2 header, because libvirt does not read it from the upload. */
async function receive(context: HostContext, vmId: string, { backupId, parentId }: BackupRequest, bytes: Readable, signal: AbortSignal) {
  const name = backupName(vmId, backupId)
  const chunks = bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const head = await context.call(`read the header of backup ${backupId}`, signal, () => firstBytes(chunks))
  const capacityBytes = virtualSize(head)
  if (capacityBytes === undefined) throw new DriverError('transient', `The data of backup ${backupId} is no qcow2 file`)
  const backing = parentId ? { backing: backupName(vmId, parentId) } : {}
  const volume = await createVolume(context, { name, format: 'qcow2', capacityBytes, ...backing }, signal)
  await upload(context, volume, Readable.from(withHead(head, chunks)), signal)
  await completeCopy(context, name, signal)
}

const HEAD_BYTES = 32

async function firstBytes(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0)
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    head = Buffer.concat([head, next.value])
    if (head.length >= HEAD_BYTES) break
  }
  return head
}

/** Of a qcow2 file; undefined for anything else. */
export const virtualSize = (head: Buffer): number | undefined =>
  head.length >= HEAD_BYTES && head.subarray(0, 4).toString('latin1') === 'QFI\xfb' ? Number(head.readBigUInt64BE(24)) : undefined

async function* withHead(head: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}
