// Builds or imports a template image into the store: validated, uncompressed, compat 1.1, without a backing file.
import { join } from 'node:path'
import type { Image } from '../hypervisor/image-source.ts'
import type { Arch } from '../kernel/arch.ts'
import type { Checksum } from './checksum.ts'
import { copyFile, download, receive, type FetchOptions, type Open } from './fetch.ts'
import { inspectImage } from './validate-image.ts'
import { RECIPES } from './recipes.ts'
import type { ImageStore } from './store.ts'
import { requireTools, run } from './external-tools.ts'

export interface MakeOptions {
  arch: Arch
  progress: (doing: string) => void
  signal: AbortSignal
}

/** `open`: in place of a request of our own. */
export type From = { url: string; open?: Open } | { file: string }

export interface Imported extends Image {
  /** sha256 of the file as received. */
  sourceChecksum: string
}

const MAX_BYTES = 32 * 1024 ** 3

export async function buildImage(store: ImageStore, recipe: string, options: MakeOptions): Promise<Image> {
  const build = RECIPES[recipe]
  if (!build) throw new Error(`There is no recipe "${recipe}". The recipes are: ${Object.keys(RECIPES).join(', ')}`)
  if (process.getuid?.() !== 0)
    throw new Error('Building needs root, because the files of the guest must belong to its root. Run it with sudo')
  return store.inWorkFolder(async (folder) => {
    const output = join(folder, 'image.qcow2')
    await build({ ...options, folder }, output)
    options.progress('checking the image')
    await inspectImage(output, options.signal)
    return store.add(output, options.arch)
  })
}

export async function importImage(
  store: ImageStore,
  from: From,
  expected: Checksum | null,
  { arch, progress, signal }: MakeOptions,
): Promise<Imported> {
  requireTools('qemu-img')
  return store.inWorkFolder(async (folder) => {
    const [file, output] = [join(folder, 'received'), join(folder, 'image.qcow2')]
    const order: FetchOptions = { expected, maxBytes: MAX_BYTES, progress: (bytes, total) => progress(received(bytes, total)), signal }
    const sourceChecksum = await bring(from, file, order)
    progress('checking the image')
    const { format } = await inspectImage(file, signal)
    const options = ['-f', format, '-O', 'qcow2', '-o', 'compat=1.1', file, output]
    await run('qemu-img', ['convert', '-p', ...options], {
      signal,
      limits: { fileBytes: MAX_BYTES },
      onLine: (line) => progress(`converting ${/[\d.]+\/100/.exec(line)?.[0].replace(/\.\d+\/100/, ' %') ?? ''}`.trim()),
    })
    await inspectImage(output, signal)
    return { ...(await store.add(output, arch)), sourceChecksum }
  })
}

async function bring(from: From, file: string, order: FetchOptions): Promise<string> {
  if ('file' in from) return copyFile(from.file, file, order)
  return from.open ? receive(await from.open(from.url, order.signal), null, file, order) : download(from.url, file, order)
}

const MIB = 1024 ** 2

const received = (bytes: number, total: number | null): string =>
  total === null
    ? `receiving ${Math.floor(bytes / MIB)} MiB`
    : `receiving ${Math.floor((bytes / Math.max(total, 1)) * 100)} % of ${Math.ceil(total / MIB)} MiB`
