// Images built here, each built once and cached for the next run, because building takes longer than most tests.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { access, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { nativeArch, type Arch } from '../src/kernel/arch.ts'
import type { Build } from '../src/images/build-options.ts'
import type { Image } from '../src/hypervisor/image-source.ts'

const IMAGES = join(import.meta.dirname, '../src/images')

interface Recipe {
  /** Including its folder. */
  name: string
  build: Build
  /** Whether it has that partition table. */
  virtualBytes: number
  buildMs: number
}

export async function builtImage(recipe: Recipe, arch = nativeArch()): Promise<Image> {
  const path = join(tmpdir(), `berth-${recipe.name}-${arch}-${recipeHash(recipe.name)}.qcow2`)
  await access(path).catch(() => build(recipe, arch, path))
  const checksum = `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`
  return { path, format: 'qcow2', arch, virtualBytes: recipe.virtualBytes, fileBytes: (await stat(path)).size, checksum }
}

async function build({ name, build, buildMs }: Recipe, arch: Arch, path: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `berth-${name}-`))
  const output = join(folder, 'made.qcow2')
  await build({ arch, folder, progress: () => undefined, signal: AbortSignal.timeout(buildMs) }, output)
  await rename(output, path)
  await rm(folder, { recursive: true, force: true })
}

function recipeHash(name: string): string {
  const hash = createHash('sha256')
  const files = globSync(`{${name}/**/*,disk.ts,grub.ts}`, { cwd: IMAGES, withFileTypes: true }).filter((each) => each.isFile())
  for (const path of files.map((each) => join(each.parentPath, each.name)).sort())
    hash.update(relative(IMAGES, path)).update(readFileSync(path))
  return hash.digest('hex').slice(0, 12)
}
