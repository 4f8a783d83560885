import type { Command } from 'commander'
import { getTemplate, listTemplateRows, withdrawTemplate, type TemplateRow } from '../../features/catalog/service.ts'
import { readProgress } from '../../images/progress.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { table, type Result } from '../output.ts'
import { facts, imagesOf, targetsOf, type ImportOptions } from './template-facts.ts'

export function templateCommands(program: Command): void {
  const template = program.command('template').description('OS templates and their images')
  adminCommand(template.command('list').description('list templates and the state of their images'), 'template list', list)
  adminCommand(
    template
      .command('build')
      .description('build a template image on this machine from Debian packages')
      .argument('<slug>')
      .option('--arch <arch>', 'x86_64 or aarch64; for another than its own it becomes a template of its own, <slug>-<arch>'),
    'template build debian-12',
    async (admin, options: { arch?: string }, slug) => (await import('./template-images.ts')).build(admin, options, slug), // imported on demand: it loads the image builders
  )
  adminCommand(
    template
      .command('import')
      .description("import a template image: the distribution's own, or the given URL or file")
      .argument('<slug>', 'template in the catalog, or a new one')
      .option('--url <url>', 'of a qcow2 or raw image')
      .option('--file <path>', 'of a qcow2 or raw image')
      .option('--checksum <hex>', 'sha256 or sha512 that the file must have')
      .option('--checksums <url>', "the distributor's file of checksums, such as SHA256SUMS; for the catalog's images it is known")
      .option('--unverified', 'accept what the URL delivers although no checksum is published or given')
      .option('--name <name>', 'for a new one: display name')
      .option('--os-version <version>', 'for a new one', '1')
      .option('--distribution <name>', 'for a new one', 'custom')
      .option(
        '--arch <arch>',
        'x86_64 or aarch64: for another than its own it becomes a template of its own, <slug>-<arch>; for a new one that of this machine by default',
      )
      .option('--user <name>', 'for a new one: login user', 'root')
      .option('--agent', 'for a new one: the image includes the QEMU guest agent')
      .option('--firmware <firmware>', 'for a new one: bios, uefi or secure-boot; by default bios on x86_64 and uefi on aarch64')
      .option('--tpm', 'for a new one: its guests have a TPM'),
    'template import debian-13',
    async (admin, options: ImportOptions, slug) => (await import('./template-images.ts')).importTemplate(admin, options, slug),
  )
  adminCommand(
    template.command('remove').description('remove the image of an unused template').argument('<slug>'),
    'template remove debian-13',
    remove,
    (_, slug) => `The image of ${slug} is deleted.`,
  )
}

async function list(admin: Admin): Promise<Result> {
  const [images, targets] = [imagesOf(admin), await targetsOf(admin.db)]
  const rows = await Promise.all(
    (await listTemplateRows(admin.db)).map(async (row) => {
      const isHere = row.checksum !== '' && (await images.has(row.checksum))
      const { stored } = targets(row.checksum)
      return {
        ...facts(row),
        state: (await readProgress(admin.config.imagesDir, row.slug)) ?? stateOf(row, isHere || stored.length > 0),
        here: isHere,
        targets: stored,
        next: row.checksum === '' ? nextStep(row) : null,
      }
    }),
  )
  const shown = rows.map((row) => ({
    ...row,
    mib: Math.ceil(row.sizeBytes / 1024 ** 2),
    where: row.checksum === '' ? '' : [...(row.here ? ['this machine'] : []), ...row.targets].join(', ') || 'nowhere',
    from: row.origin || row.next,
  }))
  return { data: rows, text: table(shown, ['slug', 'name', 'arch', 'mib', 'state', 'where', 'from'], 'No templates').text }
}

/** `isFound`: here or in a backup target. */
function stateOf(row: TemplateRow, isFound: boolean): string {
  if (row.checksum === '') return row.lacks_image ? 'no image' : 'simulated'
  if (!isFound) return 'image lost'
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
  return { data: { slug, checksum: removed.template.checksum, removed: true }, text: `OS template ${slug} has no image now` }
}
