// Images in backup targets, each in a repository of its own, encrypted as backups of VMs are. They are stored once after they are made, and fetched
// where a file is missing: on another worker, or after the site was lost.
import { ensureDataKey } from '../../backup-target/data-key.ts'
import { bytesOf } from '../../backup-target/file-content.ts'
import { BackupRepository } from '../../backup-target/repository.ts'
import type { TemplateRef } from '../../hypervisor/driver.ts'
import type { Image } from '../../hypervisor/image-source.ts'
import { checksumOf, type OwnImages } from '../../images/own-images.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { StepError } from '../../workflow/workflow-builder.ts'
import { findTarget } from '../backup-targets/service.ts'
import type { Deps } from '../deps.ts'
import { findStored } from './copies.sql.ts'
import { imageById, type ImageRow } from './sql.ts'

export interface CopyInput {
  imageId: string
  targetId: string
}

type TargetDeps = Pick<Deps, 'db' | 'vault' | 'clock' | 'backupTargets'>

/** Repositories of VMs have ids of another form. */
export const repositoryIdOf = (imageId: string): string => `image-${imageId}`

export async function openCopy({ db, vault, clock, backupTargets }: TargetDeps, { imageId, targetId }: CopyInput, signal: AbortSignal) {
  const target = await findTarget(db, targetId)
  if (!target) throw new StepError('target_gone', 'The backup target was removed.', { retry: false })
  const { store, bandwidth } = await backupTargets.get(target)
  const id = repositoryIdOf(imageId)
  const dataKey = await ensureDataKey(store, vault, { id, vmId: id }, signal)
  return { repository: new BackupRepository({ store, clock, bandwidth }, dataKey, id), lockDays: target.lock_days }
}

const FETCH_MS = parseDurationMs('2h')

/** The file of an image of an account, fetched first where it is not here; undefined for a template that is no such image. */
export function imageFinder(images: OwnImages, deps: TargetDeps): (template: TemplateRef) => Promise<Image | undefined> {
  const underWay = new Map<string, Promise<void>>()
  const fetch = async (image: ImageRow): Promise<void> => {
    const [copy] = await findStored(deps.db, image.id)
    if (!copy) return
    const signal = AbortSignal.timeout(FETCH_MS)
    const { repository } = await openCopy(deps, { imageId: image.id, targetId: copy.target_id }, signal)
    await writeFetched(images, image, repository, signal)
  }
  return async (template) => {
    const { id } = template
    if (!(await images.has(id))) {
      const image = await imageById(deps.db, id)
      if (!image) return undefined
      if (!underWay.has(id))
        underWay.set(
          id,
          fetch(image).finally(() => underWay.delete(id)),
        )
      await underWay.get(id)
    }
    return images.open(template)
  }
}

async function writeFetched(
  images: OwnImages,
  { id, kind, checksum, size_bytes }: Pick<ImageRow, 'id' | 'kind' | 'checksum' | 'size_bytes'>,
  repository: BackupRepository,
  signal: AbortSignal,
): Promise<void> {
  await images.write(id, kind, async (work) => {
    const file = await work.save('fetched', bytesOf(await repository.read(id, signal)), Number(size_bytes))
    if ((await checksumOf(file)) !== checksum) throw new Error(`image ${id} in the backup target is not the one that was made`)
    return file
  })
}
