// Builds the missing template images at the first start, while the API already serves; the smallest, which takes seconds, comes first.
import { listTemplateRows, type TemplateRow } from '../../features/catalog/service.ts'
import { isArch, nativeArch } from '../../kernel/arch.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Db } from '../../kernel/database/db.ts'
import { explain } from '../errors.ts'
import { showLine } from '../output.ts'
import type { ProcessContext } from './service.ts'
import { imagesOf, targetsOf } from '../admin/template-facts.ts'

const isSmallest = ({ slug }: TemplateRow): boolean => slug === 'tiny'

/** Tells the API which templates will be there soon. */
interface Notes {
  noteBuilding(slug: string): void
  noteBuilt(slug: string): void
}

export async function buildMissingTemplates(serving: ProcessContext, db: Db, notes: Notes): Promise<void> {
  const missing = await buildable(serving, db)
  if (missing.length === 0) return
  showLine('✓', `templates ${missing.map(({ slug }) => slug).join(', ')} are being built`, 'npx berthd template list')
  for (const { slug } of missing) notes.noteBuilding(slug)
  const stop = new AbortController()
  const building = buildAll(serving, db, notes, missing, stop.signal)
  serving.stack.defer(() => {
    stop.abort(new Error('Berth stops'))
    return serving.lifecycle.waitFor(building)
  })
}

/** Templates of this architecture with a recipe whose image libvirt hosts need and nobody has. */
async function buildable({ config }: ProcessContext, db: Db): Promise<TemplateRow[]> {
  if (process.getuid?.() !== 0) return []
  const [images, targets] = [imagesOf({ config }), await targetsOf(db)]
  const rows = (await listTemplateRows(db)).filter(({ recipe, arch }) => recipe && arch === nativeArch())
  // One that is in a backup target is fetched when it is needed: built anew it would be another.
  const isLost = async (checksum: string): Promise<boolean> => !(await images.has(checksum)) && targets(checksum).stored.length === 0
  const lacking = await Promise.all(rows.map(async (row) => (row.checksum === '' ? row.lacks_image : isLost(row.checksum))))
  return rows.filter((_, i) => lacking[i]).sort((a, b) => Number(isSmallest(b)) - Number(isSmallest(a)))
}

async function buildAll(
  { config, log }: ProcessContext,
  db: Db,
  notes: Notes,
  templates: TemplateRow[],
  signal: AbortSignal,
): Promise<void> {
  const { buildTemplate } = await import('../admin/template-images.ts')
  for (const template of templates) {
    if (signal.aborted || !isArch(template.arch)) return
    try {
      await buildTemplate({ config, db, now: systemClock.now() }, template, { arch: template.arch, progress: () => {}, signal })
      log.info({ template: template.slug }, 'OS template built')
    } catch (error) {
      if (!signal.aborted)
        log.warn({ template: template.slug, reason: explain(error) }, 'building OS template failed; retry with berthd template build')
    } finally {
      notes.noteBuilt(template.slug)
    }
  }
}
