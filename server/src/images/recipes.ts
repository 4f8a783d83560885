// The templates that can be built here from Debian packages.
import type { Build } from './build-options.ts'
import { buildDebian } from './debian/build.ts'
import { buildTiny } from './tiny/build.ts'

export const RECIPES: Record<string, Build> = { tiny: buildTiny, 'debian-12': buildDebian }
