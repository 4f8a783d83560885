// Transfers backups between hosts through this process. A checksum verifies each transfer; a mismatch fails the step, which is retried.
import { createHash } from 'node:crypto'
import { pipeline, Transform, type Readable } from 'node:stream'
import { DriverError, type BackupRequest, type Driver } from '../../hypervisor/driver.ts'
import type { StepContext } from '../../workflow/workflow-builder.ts'
import type { Deps } from '../deps.ts'
import { driverForVmId } from '../vms/service.ts'
import { chainOf, type BackupRow } from './sql.ts'

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

const damaged = (backupId: string, { hostId }: Driver): DriverError =>
  new DriverError('transient', `Backup ${backupId} did not arrive on host ${hostId} as it was sent`, {
    userMessage: 'The backup arrived damaged.',
  })

type Context = Pick<StepContext<Deps, { vmId: string; copyId: string }, unknown>, 'deps' | 'input' | 'signal'>

/** The backup and its ancestors that are stored on another host, oldest first. */
async function chainElsewhere({ deps, input }: Context, hostId: string): Promise<BackupRow[]> {
  return (await chainOf(deps.db, input.copyId)).filter((link) => link.host_id !== hostId)
}

/** Fetches the backup's chain to the VM's host and verifies its checksums. */
export async function fetchChain(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const here = await driverForVmId(deps, input.vmId)
  for (const { id, parent_id, host_id, checksum } of await chainElsewhere(context, here.hostId)) {
    const open = async (): Promise<Readable> =>
      hashing(await (await deps.hypervisors.get(host_id)).readBackup(input.vmId, id, signal), (sum) =>
        checksum !== null && sum !== checksum ? damaged(id, here) : undefined,
      )
    await here.ensureBackupCopy(input.vmId, { backupId: id, parentId: parent_id }, open, signal)
  }
}

/** The fetched copies are no longer needed: the originals are on the storing host. */
export async function deleteFetchedChain(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const here = await driverForVmId(deps, input.vmId)
  for (const { id } of (await chainElsewhere(context, here.hostId)).toReversed()) await here.ensureBackupOffloaded(input.vmId, id, signal)
}
