// Stores an image in a backup target, and removes it there. Neither is anybody's action.
import { createHash } from 'node:crypto'
import { extentsOf } from '../../backup-target/file-content.ts'
import type { Extent } from '../../hypervisor/extent.ts'
import { addDuration, parseDurationMs } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { StepError, type StepContext } from '../../workflow/workflow-builder.ts'
import { workflow, type Deps } from '../deps.ts'
import { openCopy, type CopyInput } from './copies.ts'
import * as copies from './copies.sql.ts'
import { COPY, PURGE } from './reconciler-names.ts'
import { imageById, postpone, type ImageRow } from './sql.ts'

type Context = Pick<StepContext<Deps, CopyInput, unknown>, 'deps' | 'input' | 'signal'>

const RETRY = '1h'
const DAY_MS = parseDurationMs('1d')

const idOf = ({ imageId, targetId }: CopyInput) => ({ image_id: imageId, target_id: targetId })

/** What an attempt has stored is found by the next. */
export const storeImageCopy = workflow<CopyInput>(copies.COPY_IMAGE, { deadline: '1d', queue: 'bulk' })
  .step('upload', { timeout: '8h', tries: 50, run: upload })
  .onSuccess(async (tx, { input, results: { upload: stored }, now }) => {
    if (stored) await copies.markStored(tx, now, idOf(input), stored.checksum, stored.renewAt === null ? null : new Date(stored.renewAt))
    await triggerReconciler(tx, COPY)
  })
  .onFailure(async (tx, { input, error, cancelled, now }) => {
    if (!cancelled) await copies.postponeCopy(tx, idOf(input), addDuration(now, RETRY), error!.userMessage)
    await triggerReconciler(tx, COPY)
  })

async function upload({ deps, input, signal }: Context): Promise<{ checksum: string; renewAt: string | null } | null> {
  const [image, copy] = [await imageById(deps.db, input.imageId), await copies.findCopy(deps.db, input.imageId, input.targetId)]
  if (image?.status !== 'AVAILABLE' || !copy) return null // it was deleted meanwhile
  const { repository, lockDays } = await openCopy(deps, input, signal)
  const file = { sizeBytes: Number(image.size_bytes), extents: checkedFile(deps, image) }
  const { checksum } = await repository.upload({ backupId: image.id, parentId: null, ...file, lockDays }, signal)
  if (lockDays === null) return { checksum, renewAt: null }
  if (copy.stored_at !== null) await repository.renewLock(image.id, lockDays, signal)
  return { checksum, renewAt: new Date(deps.clock.now().getTime() + (lockDays * DAY_MS) / 2).toISOString() }
}

/** Read only where it is not in the target already. */
async function* checkedFile({ images }: Deps, { id, kind, checksum }: ImageRow): AsyncGenerator<Extent> {
  const hash = createHash('sha256')
  if (!(await images.has(id, kind)))
    throw new StepError('image_elsewhere', 'The file of the image is not on this machine.', { retry: true })
  for await (const extent of extentsOf(images.pathOf(id, kind))) {
    hash.update(extent.bytes)
    yield extent
  }
  if (`sha256:${hash.digest('hex')}` !== checksum)
    throw new StepError('image_damaged', 'The file of the image is not as it was made.', { retry: false })
}

export const removeImageCopy = workflow<CopyInput>('image.remove_copy', { deadline: '1d', queue: 'bulk' })
  .step('remove', { timeout: '1h', run: remove })
  .onSuccess(async (tx, { input, results, now }) => {
    const { isGone, lockedBytes } = results.remove
    if (isGone) {
      await copies.deleteCopy(tx, idOf(input))
      await purgeAgain(tx, input.imageId)
    } else await copies.postponeLocked(tx, now, idOf(input), lockedBytes)
    await triggerReconciler(tx, COPY)
  })
  .onFailure(async (tx, { input, error, now }) => {
    await copies.postponeCopy(tx, idOf(input), addDuration(now, RETRY), error?.userMessage ?? null)
    await triggerReconciler(tx, COPY)
  })

/** The image that was kept by it. */
async function purgeAgain(tx: Tx, imageId: string): Promise<void> {
  await postpone(tx, imageId, null)
  await triggerReconciler(tx, PURGE)
}

async function remove({ deps, input, signal }: Context): Promise<{ isGone: boolean; lockedBytes: number }> {
  const { repository } = await openCopy(deps, input, signal)
  const { lockedBytes } = await repository.remove([input.imageId], signal)
  return { isGone: await repository.removeIfEmpty(signal), lockedBytes }
}
