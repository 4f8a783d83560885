import type { Command } from 'commander'
import { getTemplate, listTemplateRows, withdrawTemplate, type TemplateRow } from '../../features/catalog/service.ts'
import { readProgress } from '../../images/progress.ts'
import { openImageStore } from '../../images/store.ts'
import { systemClock } from '../../kernel/clock.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { table, type Result } from '../output.ts'
import type { ImportOptions } from './template-images.ts'

export function templateCommands(program: Command): void {
  const template = program.command('template').description('OS templates and their images')
  adminCommand(template.command('list').description('list templates and whether they have an image'), 'template list', list)
  adminCommand(
    template.command('build').description('build the image of a template on this machine, out of Debian packages').argument('<slug>'),
    'template build debian-12',
    async (admin, _options, slug) => (await import('./template-images.ts')).build(admin, slug), // brings the builders, which other commands need not wait for
  )
  adminCommand(
    template
      .command('import')
      .description("bring a template's image here: the distribution's own, or the one that is named")
      .argument('<slug>', 'of the catalog, or a new one')
      .option('--url <url>', 'of a qcow2 or raw image')
      .option('--file <path>', 'of a qcow2 or raw image')
      .option('--checksum <hex>', 'sha256 or sha512 that the file must have')
      .option('--name <name>', 'for a new one: what customers read')
      .option('--os-version <version>', 'for a new one', '1')
      .option('--distribution <name>', 'for a new one', 'custom')
      .option('--arch <arch>', "for a new one: x86_64 or aarch64; this machine's unless given")
      .option('--user <name>', 'for a new one: who gets keys and passwords', 'root')
      .option('--agent', 'for a new one: its guests run the QEMU guest agent'),
    'template import debian-13',
    async (admin, options: ImportOptions, slug) => (await import('./template-images.ts')).importTemplate(admin, options, slug),
  )
  adminCommand(
    template.command('remove').description('remove the image of a template that nothing uses').argument('<slug>'),
    'template remove debian-13',
    remove,
  )
}

export const imagesOf = ({ config }: Pick<Admin, 'config'>) => openImageStore(config.imagesDir, systemClock)

async function list(admin: Admin): Promise<Result> {
  const images = imagesOf(admin)
  const rows = await Promise.all(
    (await listTemplateRows(admin.db)).map(async (row) => ({
      ...facts(row),
      state:
        (await readProgress(admin.config.imagesDir, row.slug)) ?? stateOf(row, row.checksum !== '' && (await images.has(row.checksum))),
      next: row.checksum === '' ? nextStep(row) : null,
    })),
  )
  const shown = rows.map((row) => ({ ...row, mib: Math.ceil(row.sizeBytes / 1024 ** 2), from: row.origin || row.next }))
  return { data: rows, text: table(shown, ['slug', 'name', 'arch', 'mib', 'state', 'from'], 'There is no template').text }
}

export const facts = (row: TemplateRow) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  arch: row.arch,
  sizeBytes: Number(row.size_bytes),
  virtualBytes: Number(row.virtual_bytes),
  checksum: row.checksum,
  origin: row.origin,
  importedAt: row.imported_at?.toISOString() ?? null,
})

function stateOf(row: TemplateRow, isHere: boolean): string {
  if (row.checksum === '') return row.lacks_image ? 'no image' : 'simulated'
  if (!isHere) return 'image lost'
  return row.deprecated_at ? 'deprecated' : row.available ? 'available' : 'not offered'
}

function nextStep({ slug, recipe, image_url }: TemplateRow): string | null {
  if (recipe) return `npx berthd template build ${slug}`
  return image_url ? `npx berthd template import ${slug}` : null
}

async function remove(admin: Admin, _options: object, slug: string): Promise<Result> {
  const removed = await admin.db.tx(async (tx) => {
    const template = await getTemplate(tx, slug)
    return { template, orphan: await withdrawTemplate(tx, admin.now, template) }
  })
  if (removed.orphan) await imagesOf(admin).remove(removed.orphan)
  return { data: { slug, checksum: removed.template.checksum, removed: true }, text: `OS template ${slug} has no image any more` }
}
