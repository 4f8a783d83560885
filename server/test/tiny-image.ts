// The smallest guest there is, built once and kept for the next run: building it takes longer than most proofs.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { access, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nativeArch } from '../src/images/arch.ts'
import type { Image } from '../src/hypervisor/libvirt/image-source.ts'
import { buildTiny } from '../src/images/tiny/build.ts'

const IMAGES = join(import.meta.dirname, '../src/images')
const BUILD_MS = 300_000
/** Of the partition table it is written with. */
const VIRTUAL_BYTES = 2 ** 27

export async function tinyImage(): Promise<Image> {
  const arch = nativeArch()
  const path = join(tmpdir(), `berth-tiny-${arch}-${recipeHash()}.qcow2`)
  await access(path).catch(() => build(path))
  const checksum = `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`
  return { path, format: 'qcow2', arch, virtualBytes: VIRTUAL_BYTES, fileBytes: (await stat(path)).size, checksum }
}

async function build(path: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-tiny-'))
  const output = join(folder, 'made.qcow2')
  await buildTiny({ arch: nativeArch(), folder, progress: () => undefined, signal: AbortSignal.timeout(BUILD_MS) }, output)
  await rename(output, path)
  await rm(folder, { recursive: true, force: true })
}

function recipeHash(): string {
  const hash = createHash('sha256')
  const files = globSync('{tiny/**/*,disk.ts,grub.ts}', { cwd: IMAGES, withFileTypes: true }).filter((each) => each.isFile())
  for (const path of files.map((each) => join(each.parentPath, each.name)).sort()) hash.update(path).update(readFileSync(path))
  return hash.digest('hex').slice(0, 12)
}
