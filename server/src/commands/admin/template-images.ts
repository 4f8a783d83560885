// The commands that build or import images. Progress goes to stderr, so that stdout holds only the result.
import { chmod, lstat, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { givenSettings } from '../../config.ts'
import { addTemplate, findTemplate, getTemplate, publishImage, templateForArch, type TemplateRow } from '../../features/catalog/service.ts'
import { readCatalog } from '../../features/catalog/seed.ts'
import { listTargets } from '../../features/backup-targets/service.ts'
import { recordStored, storeNewImage, type Attempt } from '../../features/images/service.ts'
import { FIRMWARES, type Firmware } from '../../hypervisor/driver.ts'
import type { Image } from '../../hypervisor/image-source.ts'
import { ARCHITECTURES, isArch, nativeArch, type Arch } from '../../kernel/arch.ts'
import { parseChecksum, type Checksum } from '../../images/checksum.ts'
import { buildImage, importImage, type From, type MakeOptions } from '../../images/build-or-import.ts'
import { fetchPublishedChecksum } from '../../images/published-checksum.ts'
import { recordProgress } from '../../images/progress.ts'
import { openImageStore } from '../../images/store.ts'
import { systemClock } from '../../kernel/clock.ts'
import { notFound } from '../../kernel/errors.ts'
import { withFileLock } from '../../kernel/file-lock.ts'
import type { OsUser } from '../../kernel/os-user.ts'
import { withCore, type Admin } from '../admin-command.ts'
import { berthdAs } from '../berthd-as.ts'
import { explain, UsageError } from '../errors.ts'
import type { Result } from '../output.ts'
import { facts, imagesOf, targetsOf, type ImportOptions } from './template-facts.ts'

export async function build(admin: Admin, { arch }: { arch?: string }, slug: string): Promise<Result> {
  const template = await forArch(admin, await getTemplate(admin.db, slug), checkedArch(arch))
  const user = await foreignOwner(admin)
  return withProgress(template, (options) =>
    user ? buildForUser(template, options, user) : buildTemplate(admin, template, options, storeInTargets),
  )
}

/** Who owns the data or the images, where that is not root. */
async function foreignOwner({ config: { imagesDir, dataDir } }: Admin): Promise<OsUser | null> {
  if (process.getuid?.() !== 0) return null
  const found = await Promise.all([dataDir, imagesDir].map((folder) => lstat(folder).catch(() => null)))
  return found.find((folder) => folder !== null && folder.uid !== 0) ?? null
}

/**
 * Where API and worker own the images, who runs code as them could put links there, or folders in the place of root's, and root would follow. So root builds
 * in a folder of its own, and that user imports the image.
 */
async function buildForUser({ slug, recipe, arch }: TemplateRow, options: MakeOptions, user: OsUser): Promise<Result> {
  const folder = await mkdtemp('/var/tmp/berth-build-')
  try {
    await chmod(folder, 0o711) // apt drops root's privileges
    const image = await buildImage(openImageStore(folder, systemClock), requireRecipe(slug, recipe), options)
    options.progress('importing the image')
    const berthd = berthdAs(user, [process.execPath, ...process.execArgv, process.argv[1]!], givenSettings())
    const data = (await berthd('template', 'import', slug, '--file', image.path)) as { checksum: string }
    return { data, text: `OS template ${slug} (${arch}) is available: ${Math.ceil(image.fileBytes / 1024 ** 2)} MiB, ${data.checksum}` }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function requireRecipe(slug: string, recipe: string | null): string {
  if (!recipe) throw new Error(`OS template ${slug} has no build recipe. Import its image: npx berthd template import ${slug}`)
  return recipe
}

/** Longer than any build: the next one begins when it has ended. */
const BUILD_WAIT_SECONDS = 3 * 3600

type Store = (admin: Admin, image: Image, options: MakeOptions) => Promise<Attempt[]>

/** One at a time on this machine, whoever asks: each takes all CPUs. Without `store` a worker that has the file stores it in backup targets. */
export async function buildTemplate(
  admin: Admin,
  { slug, recipe }: TemplateRow,
  options: MakeOptions,
  store: Store = async () => [],
): Promise<Result> {
  const known = requireRecipe(slug, recipe)
  const { imagesDir } = admin.config
  const progress = (doing: string): void => {
    void recordProgress(imagesDir, slug, doing).catch(() => {}) // only `template list` shows it
    options.progress(doing)
  }
  try {
    await mkdir(imagesDir, { recursive: true })
    progress('waiting for another build')
    const build = () => buildImage(imagesOf(admin), known, { ...options, progress })
    const image = await withFileLock(join(imagesDir, 'build.lock'), build, { timeoutSeconds: BUILD_WAIT_SECONDS, signal: options.signal })
    return await publish(admin, slug, { ...image, origin: 'built here' }, await store(admin, image, { ...options, progress }))
  } finally {
    await recordProgress(imagesDir, slug, null)
  }
}

export async function importTemplate(admin: Admin, options: ImportOptions, slug: string): Promise<Result> {
  const found = await findTemplate(admin.db, slug)
  if (!found && !options.name) throw new UsageError(`OS template ${slug} is not in the catalog. To add it, give at least --name`)
  const known = found && (await forArch(admin, found, checkedArch(options.arch)))
  const draft = known ? null : draftOf(slug, options)
  const from = sourceOf(options, known)
  const target = known ?? draft!
  const checksum = checksumOf(admin, options, target, from)
  const { image, attempts } = await withProgress(target, async (make) => {
    const imported = await importImage(imagesOf(admin), from, await checksum(make), make)
    return { image: imported, attempts: await storeInTargets(admin, imported, make) }
  })
  if (draft) await admin.db.tx((tx) => addTemplate(tx, admin.now, draft))
  const origin = 'url' in from ? from.url : basename(from.file)
  return publish(admin, target.slug, { ...image, origin }, attempts, image.sourceChecksum)
}

/** What fails, or is interrupted, a worker of this machine does later: the image is published in any case. */
const storeInTargets: Store = async (admin, image, { progress, signal }) => {
  if ((await listTargets(admin.db)).length === 0) return []
  const onTarget = (region: string): void => progress(`storing it in the backup target of ${region}`)
  return withCore(admin, (deps) => storeNewImage(deps, image, onTarget, signal)).catch((error: unknown) => {
    process.stderr.write(`The image could not be stored in a backup target: ${explain(error)}\n`)
    return []
  })
}

function sourceOf(options: ImportOptions, known: TemplateRow | undefined): From {
  if (options.url && options.file) throw new UsageError('Give either --url or --file')
  if (options.file) return { file: resolve(options.file) }
  const url = options.url ?? known?.image_url
  if (!url) throw new UsageError('The catalog has no image URL for this template: give --url or --file')
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is not a URL`)
  return { url }
}

/** The operator's, or the distributor's own: fails when an image from the network has neither. */
function checksumOf(
  admin: Admin,
  options: ImportOptions,
  { arch }: { arch: string },
  from: From,
): (make: MakeOptions) => Promise<Checksum | null> {
  if (options.checksum !== undefined) {
    const given = readChecksum(options.checksum)
    return async () => given
  }
  if ('file' in from) return async () => null
  const url = options.checksums ?? publishedChecksums(admin, arch, from.url)
  if (url !== undefined && !URL.canParse(url)) throw new UsageError(`"${url}" is not a URL`)
  if (url !== undefined)
    return ({ progress, signal }) => {
      progress('fetching the checksum')
      return fetchPublishedChecksum(url, from.url, signal)
    }
  if (options.unverified) return async () => null
  throw new UsageError(
    `No checksum of ${from.url} is known: give its --checksum, or --checksums with the URL of the distributor's file. To take whatever that server delivers: --unverified`,
  )
}

const catalogOf = ({ config }: Admin) => readCatalog(config.catalogFile).osTemplates

/** Of the catalog, for its own URL only. */
function publishedChecksums(admin: Admin, arch: string, url: string): string | undefined {
  return catalogOf(admin).find(({ urls }) => urls?.[arch] === url)?.checksums?.[arch]
}

function readChecksum(text: string): ReturnType<typeof parseChecksum> {
  try {
    return parseChecksum(text)
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function checkedArch(arch: string | undefined): Arch | undefined {
  if (arch !== undefined && !isArch(arch)) throw new UsageError(`--arch must be ${ARCHITECTURES.join(' or ')}, not "${arch}"`)
  return arch
}

function checkedFirmware({ firmware, arch }: ImportOptions): Firmware | null {
  if (firmware === undefined) return null
  const known = FIRMWARES.find((each) => each === firmware)
  if (!known) throw new UsageError(`--firmware must be ${FIRMWARES.join(' or ')}, not "${firmware}"`)
  if (known !== 'uefi' && (arch ?? nativeArch()) !== 'x86_64') throw new UsageError(`Only guests of x86_64 can have --firmware ${known}`)
  return known
}

const forArch = (admin: Admin, template: TemplateRow, arch = template.arch): Promise<TemplateRow> =>
  admin.db.tx((tx) => {
    const inCatalog = catalogOf(admin).find(({ slug }) => slug === template.slug)
    return templateForArch(tx, admin.now, template, arch, inCatalog?.urls?.[arch] ?? null)
  })

const draftOf = (slug: string, options: ImportOptions) => ({
  slug,
  name: options.name!,
  version: options.osVersion,
  distribution: options.distribution,
  arch: checkedArch(options.arch) ?? nativeArch(),
  minDiskGib: 1,
  minRamMib: 128,
  defaultUser: options.user,
  hasAgent: options.agent ?? false,
  firmware: checkedFirmware(options),
  tpm: options.tpm ?? false,
  imageUrl: options.url ?? null,
})

interface Published {
  checksum: string
  fileBytes: number
  virtualBytes: number
  arch: string
  origin: string
}

async function publish(admin: Admin, slug: string, image: Published, attempts: Attempt[], sourceChecksum?: string): Promise<Result> {
  const { row, orphan } = await admin.db.tx(async (tx) => {
    const template = await findTemplate(tx, slug)
    if (!template) throw notFound('OS template')
    const left = await publishImage(tx, admin.now, template, image)
    await recordStored(tx, admin.now, image.checksum, attempts)
    return { row: await getTemplate(tx, slug), orphan: left }
  })
  if (orphan) await imagesOf(admin).remove(orphan)
  const { stored, missing } = (await targetsOf(admin.db))(row.checksum)
  const text = [
    `OS template ${slug} (${row.arch}) is available: ${Math.ceil(image.fileBytes / 1024 ** 2)} MiB, ${row.checksum}`,
    ...(sourceChecksum ? [`The file received has ${sourceChecksum}`] : []),
    ...(stored.length > 0 ? [`It is in the backup target of ${stored.join(' and ')}`] : []),
    ...missing.map(
      ({ region_slug, error }) =>
        `It is not in the backup target of ${region_slug} yet${error ? ` (${error})` : ''}: a worker of this machine stores it there`,
    ),
  ]
  return { data: { ...facts(row), ...(sourceChecksum && { sourceChecksum }), targets: stored }, text: text.join('\n') }
}

/** Runs `make` until it ends or Ctrl-C is pressed, and shows its progress. */
async function withProgress<T>({ slug, arch }: { slug: string; arch: string }, make: (options: MakeOptions) => Promise<T>): Promise<T> {
  if (!isArch(arch)) throw new Error(`OS template ${slug} has the unknown architecture ${arch}`)
  const stop = new AbortController()
  const interrupted = (): void => stop.abort(new Error('Interrupted: nothing was changed'))
  process.once('SIGINT', interrupted)
  process.once('SIGTERM', interrupted)
  let last = ''
  const progress = (doing: string): void => {
    if (doing === last) return
    last = doing
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${slug}: ${doing}`)
    else if (!/\d %/.test(doing)) process.stderr.write(`${slug}: ${doing}\n`)
  }
  try {
    return await make({ arch, progress, signal: stop.signal })
  } finally {
    if (process.stderr.isTTY && last) process.stderr.write('\r\x1b[2K')
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
  }
}
