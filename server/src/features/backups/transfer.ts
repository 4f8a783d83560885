// Transfers backups between hosts through this process. A checksum verifies each transfer; a mismatch fails the step, which is retried.
import { createHash } from 'node:crypto'
import { pipeline, Transform, type Readable } from 'node:stream'
import { DriverError, isDriverError, type BackupRequest, type Driver } from '../../hypervisor/driver.ts'
import { stackLayers, type DiskContent, type DiskLayer } from '../../hypervisor/extent.ts'
import { storeAsBackup } from '../../hypervisor/store-as-backup.ts'
import { StepError, type StepContext } from '../../workflow/workflow-builder.ts'
import type { Deps } from '../deps.ts'
import { driverForVm, getVmRow } from '../vms/service.ts'
import { chainOf, type BackupRow } from './sql.ts'
import { readFromTarget } from './target.ts'

export interface TransferResult {
  sizeBytes: number
  checksum: string
}

/** Uploads the backup, then reads it back from the storing host to verify it. */
export async function transferBackup(
  from: Driver,
  to: Driver,
  vmId: string,
  order: BackupRequest,
  signal: AbortSignal,
): Promise<TransferResult> {
  const read = (driver: Driver): Promise<Readable> => driver.readBackup(vmId, order.backupId, signal)
  let sent: string | undefined
  const { sizeBytes } = await to.ensureBackupCopy(vmId, order, async () => hashing(await read(from), (sum) => void (sent = sum)), signal)
  const kept = await checksumOf(await read(to))
  if (kept === (sent ?? (await checksumOf(await read(from))))) return { sizeBytes, checksum: kept }
  await to.ensureNoBackup(vmId, order.backupId, signal)
  throw damaged(order.backupId, to)
}

/**
 * Passes bytes through and reports their checksum at the end; the callback can still fail the stream. Destroying the result destroys
 * `bytes`.
 */
function hashing(bytes: Readable, tell: (checksum: string) => Error | void): Readable {
  const hash = createHash('sha256')
  const pass = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
    flush: (done) => done(tell(`sha256:${hash.digest('hex')}`) ?? null),
  })
  return pipeline(bytes, pass, () => undefined) // the reader of the stream receives its errors
}

async function checksumOf(bytes: Readable): Promise<string> {
  let checksum = ''
  for await (const _ of hashing(bytes, (sum) => void (checksum = sum))) continue
  return checksum
}

export class DamagedBackupError extends DriverError {}

/** The host that stores the backup does not have it; the one that receives it may lack something else. */
export class MissingBackupError extends DriverError {}

const ofSource = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    throw isDriverError(error, 'not_found') ? new MissingBackupError('not_found', error.message, { cause: error }) : error
  })

const damaged = (backupId: string, { hostId }: Driver): DriverError =>
  new DamagedBackupError('transient', `Backup ${backupId} did not arrive on host ${hostId} as it was sent`, {
    userMessage: 'The backup arrived damaged.',
  })

type Context = Pick<StepContext<Deps, { vmId: string; copyId: string }, unknown>, 'deps' | 'input' | 'signal'>

/** The backup and its ancestors that are stored elsewhere, oldest first. */
async function chainElsewhere({ deps, input }: Context, hostId: string): Promise<BackupRow[]> {
  return (await chainOf(deps.db, input.copyId)).filter((link) => link.host_id !== hostId)
}

/** Fetches the backup's chain to the VM's host, or what it makes to the storage backend of the VM, and verifies its checksums. */
export async function fetchChain(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const { here, storageId } = await placeOf(context)
  if (storageId !== null) {
    const place = { vmId: input.vmId, backupId: input.copyId, storageId }
    return storeAsBackup(here, place, () => openBackupDisk(deps, input.copyId, signal), signal)
  }
  for (const link of await chainElsewhere(context, here.hostId)) {
    const { id, parent_id, host_id, checksum } = link
    if (host_id === null) {
      await storeAsBackup(here, { vmId: input.vmId, backupId: id, storageId }, () => readFromTarget(deps, link, signal), signal)
      continue
    }
    const open = async (): Promise<Readable> =>
      hashing(await ofSource((await deps.hypervisors.get(host_id)).readBackup(input.vmId, id, signal)), (sum) =>
        checksum !== null && sum !== checksum ? damaged(id, here) : undefined,
      )
    await here.ensureBackupCopy(input.vmId, { backupId: id, parentId: parent_id }, open, signal)
  }
}

/** The disk as it was at the last backup of a chain, from the host that stores it. */
export async function readFromHost(deps: Deps, chain: BackupRow[], signal: AbortSignal): Promise<DiskContent> {
  const { vm_id, host_id } = chain.at(-1)!
  const there = await deps.hypervisors.get(host_id!)
  for (const { id, checksum } of chain)
    if (checksum !== null && (await checksumOf(await ofSource(there.readBackup(vm_id, id, signal)))) !== checksum) throw damaged(id, there)
  const layers: DiskLayer[] = []
  for (const { id } of chain) layers.push(await ofSource(there.readBackupExtents(vm_id, id, signal)))
  return stackLayers(layers)
}

/** The disk as it was at the backup, wherever that is. */
export async function openBackupDisk(deps: Deps, backupId: string, signal: AbortSignal): Promise<DiskContent> {
  const chain = await chainOf(deps.db, backupId)
  const backup = chain.at(-1)
  if (!backup) throw new StepError('backup_gone', 'The backup was deleted with its VM.', { retry: false })
  return backup.target_id === null ? readFromHost(deps, chain, signal) : readFromTarget(deps, backup, signal)
}

/** The fetched copies are no longer needed: the originals are on the storing host. */
export async function deleteFetchedChain(context: Context): Promise<void> {
  const { input, signal } = context
  const { here, storageId } = await placeOf(context)
  const ids = storageId === null ? (await chainElsewhere(context, here.hostId)).map(({ id }) => id) : [input.copyId]
  for (const backupId of ids.toReversed()) await here.ensureBackupOffloaded(input.vmId, { backupId, keepCheckpoint: true }, signal)
}

async function placeOf({ deps, input }: Context): Promise<{ here: Driver; storageId: string | null }> {
  const vm = await getVmRow(deps.db, input.vmId)
  return { here: await driverForVm(deps, vm), storageId: vm.storage_id }
}
