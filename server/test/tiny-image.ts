// The smallest guest image.
import type { Arch } from '../src/kernel/arch.ts'
import type { Image } from '../src/hypervisor/image-source.ts'
import { buildTiny } from '../src/images/tiny/build.ts'
import { builtImage } from './built-image.ts'

export const tinyImage = (arch?: Arch): Promise<Image> =>
  builtImage({ name: 'tiny', build: buildTiny, virtualBytes: 2 ** 27, buildMs: 300_000 }, arch)
