// Backups: full ones, and incremental ones on a checkpoint of the running disk.
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { sql, type Tx } from '../../kernel/database/db.ts'
import { GIB, DriverError, noBackups, type BackupRequest, type SnapshotsAndBackups } from '../driver.ts'
import type { DiskLayer } from '../extent.ts'
import { isParent } from './disks.ts'
import { bytesOf, contentOf, parseText } from './content.ts'
import { findRow } from './definition.ts'
import type { SimulatedHost } from './host.ts'
import { agentConnected } from './power.ts'
import { diskNow } from './snapshots.ts'
import {
  backupName,
  beginVolume,
  completeVolume,
  diskName,
  findVolume,
  parentBackupId,
  removeVolumes,
  snapshotName,
  usedOf,
} from './volumes.ts'
import { requireComplete, type Content, type NewVolume, type VolumeRow } from './volumes.ts'

type BackupMethods = Omit<SnapshotsAndBackups, 'ensureSnapshot' | 'ensureNoSnapshot'>

/** How much of a disk changes between two backups. */
const CHANGED = 0.02

export function backupMethods(host: SimulatedHost): BackupMethods {
  const { hostId, db, call, pace } = host
  return {
    ensureBackup: (vmId, request, signal) =>
      call('ensureBackup', signal, async (pause) => {
        const name = backupName(vmId, request.backupId)
        const made = await findVolume(db, hostId, name)
        if (made?.is_complete) return { sizeBytes: Number(made.size_bytes), parentId: parentBackupId(made), consistency: 'CRASH' }
        const machine = await findRow(db, hostId, vmId)
        const isConsistent = machine?.power === 'stopped' || (machine !== undefined && agentConnected(host, machine))
        const begun = await db.tx((tx) => begin(tx, hostId, vmId, request))
        await pause((pace.delays.copyMsPerGiB * begun.sizeBytes) / GIB)
        await db.tx(async (tx) => {
          await completeVolume(tx, hostId, name)
          await tx.run(sql`update simulated.volumes set checkpoints = array_append(checkpoints, ${request.backupId})
            where host_id = ${hostId} and name = ${diskName(vmId, begun.generation)}`)
        })
        return { sizeBytes: begun.sizeBytes, parentId: begun.parentId, consistency: isConsistent ? 'FILESYSTEM' : 'CRASH' }
      }),

    ensureNoBackup: (vmId, backupId, signal) =>
      call('ensureNoBackup', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        const name = backupName(vmId, backupId)
        await db.tx(async (tx) => {
          await tx.maybe(sql`select from simulated.volumes where host_id = ${hostId} and name = ${name} for update`)
          if (await isParent(tx, hostId, name)) throw new DriverError('in_use', `Another backup of ${vmId} builds on backup ${backupId}`)
          await removeVolumes(tx, hostId, sql`name = ${name}`)
        })
      }),

    ensureBackupOffloaded: (vmId, backupId, signal) =>
      call('ensureBackupOffloaded', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        await db.tx((tx) => removeVolumes(tx, hostId, sql`name = ${backupName(vmId, backupId)}`))
      }),

    readBackup: (vmId, backupId, signal) =>
      call('readBackup', signal, async () => {
        const { capacity_bytes, size_bytes, content } = await requireComplete(db, hostId, backupName(vmId, backupId))
        const file: BackupFile = { capacityBytes: Number(capacity_bytes), sizeBytes: Number(size_bytes), content }
        return Readable.from([Buffer.from(JSON.stringify(file))])
      }),

    ensureBackupCopy: (vmId, request, open, signal) =>
      call('ensureBackupCopy', signal, async (pause) => {
        const name = backupName(vmId, request.backupId)
        const here = await findVolume(db, hostId, name)
        if (here?.is_complete) return { sizeBytes: Number(here.size_bytes) }
        const file = parse(await text(await open()), request.backupId)
        await db.tx(async (tx) =>
          beginVolume(tx, hostId, { ...volumeOf(vmId, request.backupId, await lockParent(tx, hostId, vmId, request.parentId)), ...file }),
        )
        await pause((pace.delays.copyMsPerGiB * file.sizeBytes) / GIB)
        await completeVolume(db, hostId, name)
        return { sizeBytes: file.sizeBytes }
      }),

    readBackupExtents: (vmId, backupId, signal) =>
      call('readBackupExtents', signal, async () => layerOf(await requireComplete(db, hostId, backupName(vmId, backupId)))),

    readSnapshotExtents: (vmId, snapshotId, signal) =>
      call('readSnapshotExtents', signal, async () => {
        const volume = await requireComplete(db, hostId, snapshotName(vmId, snapshotId))
        if (volume.storage_id !== null) throw noBackups(vmId)
        return layerOf(volume)
      }),

    ensureBackupFromExtents: (vmId, backupId, open, signal) =>
      call('ensureBackupFromExtents', signal, async (pause) => {
        const name = backupName(vmId, backupId)
        if ((await findVolume(db, hostId, name))?.is_complete) return
        const { sizeBytes: capacityBytes, extents } = await open()
        const content = await contentOf(extents, backupId)
        const sizeBytes = usedOf(capacityBytes)
        await db.tx((tx) => beginVolume(tx, hostId, { ...volumeOf(vmId, backupId, null), capacityBytes, sizeBytes, content }))
        await pause((pace.delays.copyMsPerGiB * sizeBytes) / GIB)
        await completeVolume(db, hostId, name)
      }),
  }
}

function layerOf({ capacity_bytes, content }: VolumeRow): DiskLayer {
  const bytes = bytesOf(content)
  return {
    sizeBytes: Number(capacity_bytes),
    extents: Readable.from([{ offset: 0, bytes }]),
    findAllocated: async () => [{ offset: 0, length: bytes.length }],
  }
}

interface BackupFile {
  capacityBytes: number
  sizeBytes: number
  content: Partial<Content>
}

const parse = (bytes: string, backupId: string): BackupFile => parseText<BackupFile>(bytes, backupId)

const volumeOf = (vmId: string, backupId: string, parent: string | null): Pick<NewVolume, 'name' | 'kind' | 'id' | 'vmId' | 'parent'> => ({
  name: backupName(vmId, backupId),
  kind: 'backup',
  id: backupId,
  vmId,
  parent,
})

/** The lock keeps the parent until the child that needs it is entered. */
async function lockParent(tx: Tx, hostId: string, vmId: string, parentId: string | null): Promise<string | null> {
  if (!parentId) return null
  const { name } = await requireComplete(tx, hostId, backupName(vmId, parentId))
  await tx.one(sql`select from simulated.volumes where host_id = ${hostId} and name = ${name} for key share`)
  return name
}

interface Begun {
  generation: number
  sizeBytes: number
  parentId: string | null
}

async function begin(tx: Tx, hostId: string, vmId: string, { backupId, parentId, parentIsRemote }: BackupRequest): Promise<Begun> {
  const disk = await diskNow(tx, hostId, vmId)
  if (disk.storage_id !== null) throw noBackups(vmId)
  const hasParent = parentId !== null && (parentIsRemote || (await findVolume(tx, hostId, backupName(vmId, parentId)))?.is_complete)
  const knowsChanges = hasParent && disk.machine.power === 'running' && disk.checkpoints.includes(parentId)
  const parent = knowsChanges ? backupName(vmId, parentId) : null
  if (parent) await tx.maybe(sql`select from simulated.volumes where host_id = ${hostId} and name = ${parent} for key share`)
  const sizeBytes = Math.round(Number(disk.size_bytes) * (parent ? CHANGED : 1))
  const file: BackupFile = { capacityBytes: Number(disk.capacity_bytes), sizeBytes, content: disk.content }
  await beginVolume(tx, hostId, { ...volumeOf(vmId, backupId, parent), ...file })
  return { generation: disk.generation ?? 0, sizeBytes, parentId: parent ? parentId : null }
}
