// Imports the image of an OS template: what `berthd template import` does, in a worker. The file is put where this process may write, beside those that were
// fetched from backup targets.
import { importImage } from '../../images/build-or-import.ts'
import { parseChecksum, type Checksum } from '../../images/checksum.ts'
import { fetchPublishedChecksum } from '../../images/published-checksum.ts'
import { fetchedFolder, openImageStore } from '../../images/store.ts'
import type { Arch } from '../../kernel/arch.ts'
import { DownloadError } from '../../kernel/net/outbound-http.ts'
import { StepError, type StepContext } from '../../workflow/workflow-builder.ts'
import { addTemplate, findTemplate, findTemplateByChecksum, publishImage, type TemplateDraft } from '../catalog/service.ts'
import { workflow, type Deps } from '../deps.ts'
import { recordStored, storeNewImage, type Attempt } from './template-images.ts'
import { writeDoing } from './template-imports.sql.ts'

export interface TemplateImportInput {
  slug: string
  url: string
  /** What the file must have, or where its distributor says it. */
  checksum: { given: string } | { publishedAt: string }
  arch: Arch
  /** Of a template that is not in the catalog yet. */
  draft: TemplateDraft | null
}

type Context = Pick<StepContext<Deps, TemplateImportInput, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

interface Published {
  checksum: string
  fileBytes: number
  virtualBytes: number
  arch: string
  attempts: Attempt[]
  /** Of the image that the template had before. */
  replaced: string | null
}

export const importTemplateWorkflow = workflow<TemplateImportInput>('template.import', { deadline: '8h', queue: 'foreign' })
  .step('import', { timeout: '3h', run: bring })
  .step('publish', {
    save: async (tx, { input: { slug, url, draft }, results, now }) => {
      const { attempts, ...image } = results.import
      if (draft && !(await findTemplate(tx, slug))) await addTemplate(tx, now, draft)
      const template = await findTemplate(tx, slug)
      if (!template) throw new StepError('not_found', `OS template ${slug} was removed meanwhile`, { retry: false })
      await publishImage(tx, now, template, { ...image, origin: url })
      await recordStored(tx, now, image.checksum, attempts)
    },
  })
  .step('remove old image', {
    optional: true,
    run: async ({ deps, results }) => {
      const { replaced, checksum } = results.import
      if (replaced && replaced !== checksum && !(await findTemplateByChecksum(deps.db, replaced))) await deps.templates.remove(replaced)
    },
  })

const WRITE_EVERY_MS = 1_000

/** What is done at the moment, as the dashboard shows it. */
function progressOf({ deps, runId }: Context): (doing: string) => void {
  let [last, writtenAt] = ['', 0]
  return (doing) => {
    const now = deps.clock.now().getTime()
    if (doing === last || (/\d/.test(doing) && now - writtenAt < WRITE_EVERY_MS)) return
    ;[last, writtenAt] = [doing, now]
    void writeDoing(deps.db, runId, doing).catch(() => {}) // it is only shown
  }
}

async function bring(context: Context): Promise<Published> {
  const { deps, input, signal } = context
  const { slug, url, arch } = input
  const store = openImageStore(fetchedFolder(deps.config.imagesDir), deps.clock)
  const progress = progressOf(context)
  const before = await findTemplate(deps.db, slug)
  try {
    const expected = await checksumOf(context, progress)
    const { path, checksum, fileBytes, virtualBytes } = await importImage(store, { url, open: deps.outbound.download }, expected, {
      arch,
      progress,
      signal,
    })
    const onTarget = (region: string): void => progress(`storing it in the backup target of ${region}`)
    const attempts = await storeNewImage(deps, { path, checksum, fileBytes }, onTarget, signal)
    return { checksum, fileBytes, virtualBytes, arch, attempts, replaced: before?.checksum || null }
  } catch (error) {
    signal.throwIfAborted()
    throw explain(error as Error)
  }
}

function checksumOf({ deps, input: { url, checksum }, signal }: Context, progress: (doing: string) => void): Promise<Checksum> | Checksum {
  if ('given' in checksum) return parseChecksum(checksum.given)
  progress('fetching the checksum')
  return fetchPublishedChecksum(checksum.publishedAt, url, signal, deps.outbound.download)
}

/** A file that is refused is refused again; a server may answer the next time. */
function explain(error: Error): StepError {
  const isTheirs = error instanceof DownloadError || /^(UND_|ECONN|EPIPE)/.test((error as { code?: string }).code ?? '')
  if (isTheirs) return new StepError('download_failed', `The file could not be fetched: ${error.message}`, { retry: true, cause: error })
  return new StepError('image_refused', error.message.split('\n')[0]!, { retry: false, cause: error })
}
