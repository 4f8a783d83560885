// Where the product's files lie: in its repository, where it runs as it is written, or among somebody's packages, where it runs as it was
// built. `dist` is as deep as `src`, so what lies beside both of them is found by its relative path alone.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const isBuilt = import.meta.filename.endsWith('.js')
const fromHere = (path: string): string => join(import.meta.dirname, path)

/** The folder of the repository, or the one in which the packages were installed, or else where we were started. */
export const PROJECT_DIR = isBuilt ? installedIn(import.meta.dirname) : fromHere('../../..')

export const DOCS = isBuilt ? fromHere('../docs') : fromHere('../../../docs')

function installedIn(path: string): string {
  const [folder = '', ...below] = path.split('/node_modules/')
  return below.length > 0 ? folder : process.cwd()
}

/** Of another package of ours; null where it is not installed. */
export function packageDir(name: string): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return null
  }
}
