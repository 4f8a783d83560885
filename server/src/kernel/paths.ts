// Where files are found: in the repository (running from source) or in node_modules (running from a package). `dist` is as deep as `src`,
// so relative paths work for both.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const isBuilt = import.meta.filename.endsWith('.js')
const fromHere = (path: string): string => join(import.meta.dirname, path)

/** The repository, or the folder in which the packages are installed, or else the working directory. */
export const PROJECT_DIR = isBuilt ? installedIn(import.meta.dirname) : fromHere('../../..')

export const DOCS = isBuilt ? fromHere('../docs') : fromHere('../../../docs')

function installedIn(path: string): string {
  const [folder = '', ...below] = path.split('/node_modules/')
  return below.length > 0 ? folder : process.cwd()
}

/** The folder of another of our packages; null when it is not installed. */
export function packageDir(name: string): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return null
  }
}
