// The Debian image built here.
import { buildDebian } from '../src/images/debian/build.ts'
import type { Arch } from '../src/kernel/arch.ts'
import type { Image } from '../src/hypervisor/image-source.ts'
import { builtImage } from './built-image.ts'

export const debianImage = (arch?: Arch): Promise<Image> =>
  builtImage({ name: 'debian', build: buildDebian, virtualBytes: 1536 * 2 ** 20, buildMs: 1_800_000 }, arch)
