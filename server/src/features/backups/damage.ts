// Backups whose data turns out to be damaged or missing are marked, so that their owner need not find out a second time.
import { isTargetError } from '../../backup-target/errors.ts'
import { DEFAULT_TRIES, type StepContext } from '../../workflow/workflow-builder.ts'
import type { Deps } from '../deps.ts'
import { lockVmById, recordVmEvent } from '../vms/service.ts'
import { recordVerdict } from './proofs.ts'
import { findById, isVmBeingDeleted } from './sql.ts'
import { DamagedBackupError, MissingBackupError } from './transfer.ts'
import { toBackup } from './view.ts'

/** What the error says about the backup; null where it says something about the way to it only. */
export function damageOf(error: unknown, tries: number): string | null {
  if (isTargetError(error, 'missing', 'damaged', 'wrong_key', 'unsupported', 'no_bucket')) return error.userMessage
  // One that arrives whole in the end was damaged on its way.
  if (error instanceof DamagedBackupError) return tries >= DEFAULT_TRIES ? 'Data of the backup is damaged.' : null
  return error instanceof MissingBackupError ? 'Data of the backup is missing.' : null
}

type Context = Pick<StepContext<Deps, unknown, unknown>, 'deps' | 'runId' | 'tries'>

/** Marks the backup where reading it fails because of its data. */
export async function readOrMark(context: Context, backupId: string, read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (error) {
    const reason = damageOf(error, context.tries)
    if (reason !== null) await markDamaged(context, backupId, reason)
    throw error
  }
}

/** Once: a step that fails is repeated. */
async function markDamaged({ deps, runId }: Context, backupId: string, reason: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const found = await findById(tx, backupId)
    if (!found) return
    await lockVmById(tx, found.vm_id)
    if (await isVmBeingDeleted(tx, found.vm_id)) return // its backups go with it
    const verdict = { verification: 'FAILED', reason, restoreSeconds: null, bootSeconds: null } as const
    const recorded = await recordVerdict(tx, deps.clock.now(), backupId, verdict)
    if (!recorded || recorded.had_failed) return
    const backup = toBackup((await findById(tx, backupId))!)
    await recordVmEvent(tx, deps, found.vm_id, 'backup.verification_failed', { actionId: runId, reason }, { backup })
  })
}
