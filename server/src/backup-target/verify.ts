// Compares a bucket with the backups that should be in it, and reads all of them. What is damaged does not end it: everything else is checked too.
import { systemClock } from '../kernel/clock.ts'
import type { Vault } from '../kernel/crypto.ts'
import { createBandwidthLimit } from './bandwidth.ts'
import { listRepositoryIds, openDataKey } from './data-key.ts'
import { isTargetError } from './errors.ts'
import type { ObjectStore } from './object-store.ts'
import { BackupRepository } from './repository.ts'

/** A backup that customers can restore. */
export interface ExpectedBackup {
  id: string
  vm_id: string
  checksum: string | null
}

export interface VerifiedBackup {
  vmId: string
  backupId: string
  chunks: number
  problems: string[]
}

export interface VerifiedBucket {
  backups: VerifiedBackup[]
  /** Of what belongs to no backup that is known: a sentence each. */
  problems: string[]
}

export async function verifyBucket(
  store: ObjectStore,
  vault: Vault,
  expected: ExpectedBackup[],
  signal: AbortSignal,
): Promise<VerifiedBucket> {
  const missing = new Map(expected.map((each) => [each.id, each]))
  const result: VerifiedBucket = { backups: [], problems: [] }
  const verifyRepository = async (id: string): Promise<void> => {
    const dataKey = await openDataKey(store, vault, id, signal)
    const repository = new BackupRepository({ store, clock: systemClock, bandwidth: createBandwidthLimit(null) }, dataKey, id)
    for await (const { backupId, checksum } of repository.list(signal, (error) => result.problems.push(error.message))) {
      const { chunks, problems } = await repository.verify(backupId, signal)
      const wanted = missing.get(backupId)
      if (wanted && wanted.checksum !== checksum) problems.push('It is not the backup that was stored')
      missing.delete(backupId)
      result.backups.push({ vmId: dataKey.vmId, backupId, chunks, problems })
    }
  }
  for await (const id of listRepositoryIds(store, signal))
    await verifyRepository(id).catch((error: unknown) => {
      if (!isTargetError(error, 'missing', 'damaged', 'wrong_key')) throw error
      result.problems.push(error.message)
    })
  for (const { id, vm_id } of missing.values())
    result.backups.push({
      vmId: vm_id,
      backupId: id,
      chunks: 0,
      problems: ['It cannot be read: its manifest or its data key is missing or damaged'],
    })
  return result
}
