// Stores an image in a backup target, and removes it there. Neither is anybody's action.
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import type { StepContext } from '../../workflow/workflow-builder.ts'
import { workflow, type Deps } from '../deps.ts'
import { openCopy, toFile, uploadImage, type CopyInput, type Uploaded } from './copies.ts'
import * as copies from './copies.sql.ts'
import { COPY, PURGE } from './reconciler-names.ts'
import { imageById, postpone } from './sql.ts'
import { findTemplateFile } from './template-images.ts'

type Context = Pick<StepContext<Deps, CopyInput, unknown>, 'deps' | 'input' | 'signal'>

const RETRY = '1h'

const idOf = ({ imageId, targetId }: CopyInput) => ({ image_id: imageId, target_id: targetId })

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

async function upload({ deps, input: { imageId, targetId }, signal }: Context): Promise<Uploaded | null> {
  const file = await findFile(deps, imageId)
  return file && (await copies.findCopy(deps.db, imageId, targetId)) ? uploadImage(deps, targetId, file, signal) : null // or it was deleted meanwhile
}

async function findFile(deps: Deps, id: string) {
  const image = await imageById(deps.db, id)
  if (!image) return findTemplateFile(deps, id)
  if (image.status !== 'AVAILABLE') return undefined
  const { images } = deps
  return { ...toFile(image), path: (await images.has(id, image.kind)) ? images.pathOf(id, image.kind) : undefined }
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
