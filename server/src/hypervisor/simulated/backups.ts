// Backups: full ones, and incremental ones on a checkpoint of the running disk.
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { GIB, DriverError, type BackupRequest, type SnapshotsAndBackups } from '../driver.ts'
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
  isPooled,
  parentBackupId,
  pooledBackupName,
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
        const made = await findHeld(db, hostId, vmId, request.backupId)
        if (made) return { sizeBytes: Number(made.size_bytes), parentId: parentBackupId(made), consistency: 'CRASH' }
        const machine = await findRow(db, hostId, vmId)
        const isConsistent = machine?.power === 'stopped' || (machine !== undefined && agentConnected(host, machine))
        const begun = await db.tx((tx) => begin(tx, hostId, vmId, request))
        await pause((pace.delays.copyMsPerGiB * begun.sizeBytes) / GIB)
        await db.tx(async (tx) => {
          await completeVolume(tx, hostId, begun.name)
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
          await lockCopies(tx, hostId, vmId, backupId)
          if (await isParent(tx, hostId, name)) throw new DriverError('in_use', `Another backup of ${vmId} builds on backup ${backupId}`)
          await removeCheckpoint(tx, hostId, vmId, backupId)
          await removeVolumes(tx, hostId, sql`name = any(${[name, pooledBackupName(vmId, backupId)]})`)
        })
      }),

    ensureBackupOffloaded: (vmId, { backupId, keepCheckpoint }, signal) =>
      call('ensureBackupOffloaded', signal, async (pause) => {
        await pause(pace.delays.overlayMs)
        await db.tx(async (tx) => {
          await lockCopies(tx, hostId, vmId, backupId)
          const pooled = await isPooled(tx, hostId, vmId)
          if (!keepCheckpoint) await removeCheckpoint(tx, hostId, vmId, backupId)
          else if (pooled) await removeOlderCheckpoints(tx, hostId, vmId, backupId)
          await removeVolumes(tx, hostId, sql`name = ${(pooled ? pooledBackupName : backupName)(vmId, backupId)}`)
        })
      }),

    readBackup: (vmId, backupId, signal) =>
      call('readBackup', signal, async () => {
        const { capacity_bytes, size_bytes, content } = await getHeld(db, hostId, vmId, backupId)
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
      call('readBackupExtents', signal, async () => layerOf(await getHeld(db, hostId, vmId, backupId))),

    readSnapshotExtents: (vmId, snapshotId, signal) =>
      call('readSnapshotExtents', signal, async () => layerOf(await requireComplete(db, hostId, snapshotName(vmId, snapshotId)))),

    ensureBackupFromExtents: (vmId, { backupId, storageId }, open, signal) =>
      call('ensureBackupFromExtents', signal, async (pause) => {
        const name = (storageId === null ? backupName : pooledBackupName)(vmId, backupId)
        if ((await findVolume(db, hostId, name))?.is_complete) return
        const { sizeBytes: capacityBytes, extents } = await open()
        const content = await contentOf(extents, backupId)
        const sizeBytes = usedOf(capacityBytes)
        await db.tx((tx) =>
          beginVolume(tx, hostId, { ...volumeOf(vmId, backupId, null), name, storageId, capacityBytes, sizeBytes, content }),
        )
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

/** On the host, or in its storage backend. */
async function findHeld(queries: Queries, hostId: string, vmId: string, backupId: string): Promise<VolumeRow | undefined> {
  for (const name of [backupName(vmId, backupId), pooledBackupName(vmId, backupId)]) {
    const found = await findVolume(queries, hostId, name)
    if (found?.is_complete) return found
  }
  return undefined
}

const getHeld = async (queries: Queries, hostId: string, vmId: string, backupId: string): Promise<VolumeRow> =>
  (await findHeld(queries, hostId, vmId, backupId)) ?? requireComplete(queries, hostId, backupName(vmId, backupId))

/** Before the disk that has the checkpoint. */
const lockCopies = (tx: Tx, hostId: string, vmId: string, backupId: string) =>
  tx.many(sql`select from simulated.volumes
    where host_id = ${hostId} and name = any(${[backupName(vmId, backupId), pooledBackupName(vmId, backupId)]}) order by name for update`)

const disksOf = (hostId: string, vmId: string): Sql => sql`host_id = ${hostId} and vm_id = ${vmId} and kind = 'disk'`

const removeCheckpoint = (tx: Tx, hostId: string, vmId: string, backupId: string): Promise<number> =>
  tx.run(
    sql`update simulated.volumes set checkpoints = array_remove(checkpoints, ${backupId}) where ${disksOf(hostId, vmId)} and ${backupId}::text = any(checkpoints)`,
  )

const removeOlderCheckpoints = (tx: Tx, hostId: string, vmId: string, backupId: string): Promise<number> =>
  tx.run(
    sql`update simulated.volumes set checkpoints = array[${backupId}::text] where ${disksOf(hostId, vmId)} and ${backupId}::text = any(checkpoints)`,
  )

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
  name: string
  generation: number
  sizeBytes: number
  parentId: string | null
}

async function begin(tx: Tx, hostId: string, vmId: string, { backupId, parentId, parentIsRemote }: BackupRequest): Promise<Begun> {
  const disk = await diskNow(tx, hostId, vmId)
  const { storage_id: storageId } = disk
  const hasParent = parentId !== null && (parentIsRemote || (await findHeld(tx, hostId, vmId, parentId)) !== undefined)
  const knowsChanges = hasParent && (storageId !== null || disk.machine.power === 'running') && disk.checkpoints.includes(parentId)
  const parent = knowsChanges ? backupName(vmId, parentId) : null
  if (parent) await tx.maybe(sql`select from simulated.volumes where host_id = ${hostId} and name = ${parent} for key share`)
  const sizeBytes = Math.round(Number(disk.size_bytes) * (parent ? CHANGED : 1))
  const file: BackupFile = { capacityBytes: Number(disk.capacity_bytes), sizeBytes, content: disk.content }
  const name = (storageId === null ? backupName : pooledBackupName)(vmId, backupId)
  await beginVolume(tx, hostId, { ...volumeOf(vmId, backupId, parent), ...file, name, storageId })
  return { name, generation: disk.generation ?? 0, sizeBytes, parentId: parent ? parentId : null }
}
