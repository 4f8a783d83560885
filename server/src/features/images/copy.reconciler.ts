// Has every image, of accounts and of OS templates, stored in the backup targets that are to have it, few at a time, and removed from them when it is deleted.
import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import type { Workflow } from '../../workflow/workflow-builder.ts'
import { reconciler, type Deps } from '../deps.ts'
import type { CopyInput } from './copies.ts'
import { removeImageCopy, storeImageCopy } from './copy.workflow.ts'
import * as copies from './copies.sql.ts'
import { COPY } from './reconciler-names.ts'

/** Of either kind: backups of VMs have the same places in workers. */
const MOST_RUNS = 2

export const copyImages = reconciler(COPY, '1m', async (deps: Deps) => {
  const { db, clock } = deps
  await copies.insertMissing(db, clock.now())
  // Nothing is removed before its worker has ended for sure: what that stores afterwards nobody would find.
  for (const { id } of await copies.unneededRuns(db)) await db.tx((tx) => deps.workflows.abort(tx, id, 'The image was deleted'))
  const { stores, removals } = await copies.countRuns(db)
  for (const { image_id, target_id } of await copies.unneededCopies(db, clock.now(), Math.max(0, MOST_RUNS - removals)))
    await db.tx((tx) => start(tx, deps, image_id, target_id, removeImageCopy))
  for (const { image_id, target_id } of await copies.dueCopies(db, clock.now(), Math.max(0, MOST_RUNS - stores)))
    await db.tx((tx) => start(tx, deps, image_id, target_id, storeImageCopy))
})

async function start(tx: Tx, { workflows }: Deps, imageId: string, targetId: string, work: Workflow<Deps, CopyInput>): Promise<void> {
  const copy = await copies.lockIdleCopy(tx, imageId, targetId)
  if (!copy || (work.name === storeImageCopy.name && !(await copies.lockNeeded(tx, imageId)))) return
  const runId = newId()
  const isStore = work.name === storeImageCopy.name
  await (isStore ? copies.setRun : copies.setRemoval)(tx, copy, runId)
  const label = isStore ? 'IMAGE_COPY' : 'IMAGE_REMOVE_COPY'
  await workflows.start(tx, work, { imageId, targetId }, { label, subjectId: `${imageId}.${targetId}`, runId })
}
