// Images of OS templates on several machines: stored in the backup targets that have those of accounts, before they are published, and fetched by a
// worker whose folder lacks one. Without a backup target they are in the image folder alone, which all machines then have to share.
import { DriverError, type TemplateRef } from '../../hypervisor/driver.ts'
import { digitsOf, type ImageStore } from '../../images/store.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { findTemplateByChecksum } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { holdCopies, markHeldStored, postponeCopy, templateCopies } from './copies.sql.ts'
import { imageFetcher, uploadImage, type ImageFile, type TargetDeps, type Uploaded } from './copies.ts'
import { COPY } from './reconciler-names.ts'

const PREFIX = 'sha256:'

/** Undefined where no template has the image any more. */
async function findImageFile(db: Queries, digits: string): Promise<ImageFile | undefined> {
  const template = await findTemplateByChecksum(db, PREFIX + digits)
  return template && { id: digits, kind: 'DISK', checksum: template.checksum, sizeBytes: Number(template.size_bytes) }
}

export async function findTemplateFile({ db, templates }: Pick<Deps, 'db' | 'templates'>, digits: string) {
  const file = await findImageFile(db, digits)
  return file && { ...file, path: await templates.find(file.checksum) }
}

/** Opens what it has to fetch first, too. */
export function withFetching(store: ImageStore, deps: TargetDeps): ImageStore {
  const fetch = imageFetcher(store.fetched, deps)
  const bring = async ({ slug, checksum }: TemplateRef): Promise<void> => {
    const file = await findImageFile(deps.db, digitsOf(checksum))
    if (!file) return
    const again = `build or import it again: npx berthd template build ${slug} (or import)`
    await fetch(file, `The image of template ${slug}`, `. Copy its file from a machine that has it into the image folder, or ${again}`)
    if ((await store.has(checksum)) || !(await isToBeStored(deps.db, file.id))) return
    throw new DriverError(
      'transient', // a worker that has it may be next
      `The image of template ${slug} is not on this machine, and not in a backup target yet. A worker that has the file stores it there; if none has, ${again}`,
      { userMessage: 'The image of the template is not everywhere yet.' },
    )
  }
  return {
    ...store,
    open: async (template) => {
      if (template.checksum !== '' && !(await store.has(template.checksum))) await bring(template)
      return store.open(template)
    },
  }
}

const isToBeStored = async (db: Queries, id: string): Promise<boolean> =>
  (await templateCopies(db)).some((copy) => copy.id === id && !copy.is_stored)

/** By when an image that was stored has been published: what nobody published is removed from the target later. */
const HOLD = '1d'

interface NewImage {
  path: string
  checksum: string
  fileBytes: number
}

export interface Attempt {
  targetId: string
  region: string
  /** Or why it failed. */
  result: Uploaded | { error: string }
}

/** Before the image is published, so that no worker ever has to wait for it. What fails here a worker that has the file does later. */
export async function storeNewImage(
  deps: TargetDeps,
  { path, checksum, fileBytes }: NewImage,
  onTarget: (region: string) => void,
  signal: AbortSignal,
): Promise<Attempt[]> {
  const file = { id: digitsOf(checksum), checksum, sizeBytes: fileBytes, path }
  const attempts: Attempt[] = []
  const now = deps.clock.now()
  for (const { target_id: targetId, region_slug: region } of await holdCopies(deps.db, now, file.id, addDuration(now, HOLD))) {
    onTarget(region)
    const failed = (error: unknown) => ({ error: (error as Error).message })
    attempts.push({ targetId, region, result: await uploadImage(deps, targetId, file, signal).catch(failed) })
  }
  return attempts
}

/** In the transaction that publishes it. */
export async function recordStored(tx: Tx, now: Date, checksum: string, attempts: Attempt[]): Promise<void> {
  for (const { targetId, result } of attempts) {
    const copy = { image_id: digitsOf(checksum), target_id: targetId }
    if ('error' in result) await postponeCopy(tx, copy, now, result.error)
    else await markHeldStored(tx, now, copy, result.checksum, result.renewAt === null ? null : new Date(result.renewAt))
  }
  await triggerReconciler(tx, COPY)
}
