// Backups as bytes, to be kept on another host. A backup names its parent by the name of its file alone, so the chain holds wherever
// its files lie side by side.
import { addAbortSignal, Readable } from 'node:stream'
import { DriverError, type BackupOrder, type SnapshotsAndBackups } from '../../driver.ts'
import { completeCopy, fileBytes } from './copy.ts'
import { backupName } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { createVolume, findComplete, isComplete, upload } from '../storage/volumes.ts'
import { destroyIfAborted } from '../core/abortable.ts'

export function backupTransferMethods(context: HostContext): Pick<SnapshotsAndBackups, 'readBackup' | 'ensureBackupCopy'> {
  return {
    readBackup: async (vmId, backupId, signal) => {
      const volume = await findComplete(context, backupName(vmId, backupId), signal)
      if (!volume) throw missing(context, vmId, backupId)
      const bytes = await context.call(`read backup ${backupId}`, signal, async (host) =>
        destroyIfAborted(await host.volumes.download({ volume }), signal),
      )
      return addAbortSignal(signal, bytes)
    },

    ensureBackupCopy: (vmId, copy, open, signal) =>
      context.exclusive(`copy:${vmId}`, signal, async () => {
        const name = backupName(vmId, copy.backupId)
        if (!(await isComplete(context, name, signal)))
          await receiveFrom(await opened(context, vmId, copy, open, signal), context, vmId, copy, signal)
        const volume = await findComplete(context, name, signal)
        if (!volume) throw missing(context, vmId, copy.backupId)
        return { sizeBytes: await fileBytes(context, volume, signal) }
      }),
  }
}

const missing = ({ hostId }: HostContext, vmId: string, backupId: string): DriverError =>
  new DriverError('not_found', `Host ${hostId} has no whole backup ${backupId} of ${vmId}`)

async function opened(context: HostContext, vmId: string, { parentId }: BackupOrder, open: () => Promise<Readable>, signal: AbortSignal) {
  if (parentId && !(await isComplete(context, backupName(vmId, parentId), signal))) throw missing(context, vmId, parentId)
  return open()
}

/** Whatever comes of it, the sender is let go of: it would keep the backup open, and its space taken, for as long as this process lives. */
async function receiveFrom(bytes: Readable, context: HostContext, vmId: string, copy: BackupOrder, signal: AbortSignal): Promise<void> {
  try {
    await receive(context, vmId, copy, bytes, signal)
  } finally {
    bytes.destroy()
  }
}

/** The volume is made with the size that the file itself tells, because libvirt believes what it was told. */
async function receive(context: HostContext, vmId: string, { backupId, parentId }: BackupOrder, bytes: Readable, signal: AbortSignal) {
  const name = backupName(vmId, backupId)
  const chunks = bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const head = await context.call(`read the head of backup ${backupId}`, signal, () => firstBytes(chunks))
  const capacityBytes = virtualSize(head)
  if (capacityBytes === undefined) throw new DriverError('transient', `The copy of backup ${backupId} arrived damaged`)
  const backing = parentId ? { backing: backupName(vmId, parentId) } : {}
  const volume = await createVolume(context, { name, format: 'qcow2', capacityBytes, ...backing }, signal)
  await upload(context, volume, Readable.from(whole(head, chunks)), signal)
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

async function* whole(head: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}
