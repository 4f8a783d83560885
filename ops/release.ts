// npm run release: packs all workspaces, a Debian package for each architecture and, where root runs it, an OCI image for that of this machine into
// release/VERSION with SHA256SUMS, and tags the commit vVERSION. Run it again on the same commit to rebuild the packages; nothing is published or pushed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ARCHITECTURES, buildDeb, type Architecture } from './deb/build.ts'
import { buildImage } from './oci/build.ts'

interface Package {
  name: string
  version: string
  workspaces: string[]
  dependencies?: Record<string, string>
}

/** Returns the paths of what it made. */
export async function release(
  root: string,
  packAll: (into: string) => string[] | Promise<string[]> = (into) => makePackages(root, into),
): Promise<string[]> {
  const { version, workspaces } = readPackage(root)
  requireVersions(root, version, workspaces)
  requireChangelog(root, version)
  if (git(root, 'status', '--porcelain')) throw new Error('The working tree has uncommitted changes. Commit or stash them first')
  const tag = `v${version}`
  const head = git(root, 'rev-parse', 'HEAD')
  const tagged = git(root, 'tag', '--list', tag) && git(root, 'rev-list', '-n', '1', tag)
  if (tagged && tagged !== head) throw new Error(`The tag ${tag} exists on ${tagged.slice(0, 12)}. Raise the version for another release`)

  const folder = join(root, 'release', version)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const files = (await packAll(folder)).sort()
  const sums = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`).join('')
  writeFileSync(join(folder, 'SHA256SUMS'), sums)
  if (!tagged) git(root, 'tag', '--annotate', tag, '--message', `Berth ${version}`)
  return [...files, 'SHA256SUMS'].map((file) => join(folder, file))
}

function requireVersions(root: string, version: string, workspaces: string[]): void {
  for (const workspace of workspaces) {
    const { name, version: own, dependencies = {} } = readPackage(join(root, workspace))
    if (own !== version) throw new Error(`${name} has version ${own}, the root package.json ${version}`)
    for (const [dependency, wanted] of Object.entries(dependencies))
      if (dependency.startsWith('@berth/') && wanted !== version)
        throw new Error(`${name} depends on ${dependency} ${wanted}, not ${version}`)
  }
}

function requireChangelog(root: string, version: string): void {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const heading = changelog.split('\n').find((line) => line.startsWith(`## [${version}]`))
  if (!heading) throw new Error(`CHANGELOG.md has no section for ${version}`)
  if (!/ - \d{4}-\d{2}-\d{2}$/.test(heading)) throw new Error(`The section for ${version} in CHANGELOG.md has no date`)
}

const readPackage = (folder: string): Package => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package

async function makePackages(root: string, into: string): Promise<string[]> {
  const packed = npmPack(root, into)
  const source = { root, version: readPackage(root).version, epochSeconds: Number(git(root, 'log', '-1', '--format=%ct')) }
  const tarballs = new Map(packed.map(({ name, filename }) => [name, join(into, filename)]))
  const architectures = Object.keys(ARCHITECTURES) as Architecture[]
  const debs = architectures.map((arch) => buildDeb(source, arch, tarballs, into))
  const files = [...packed.map(({ filename }) => filename), ...debs]
  if (process.getuid?.() !== 0) {
    console.error('No OCI image is made: that takes root')
    return files
  }
  const arch = architectures.find((each) => ARCHITECTURES[each] === process.arch)!
  return [...files, ...(await buildImage({ ...source, arch, deb: join(into, debs[architectures.indexOf(arch)]!) }, into))]
}

/** `npm pack` builds each package first (prepack). */
function npmPack(root: string, into: string): { name: string; filename: string }[] {
  const stdout = execFileSync('npm', ['pack', '--json', '--pack-destination', into, '--workspaces'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 24,
  })
  // Output of the builds comes before the JSON.
  return JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as { name: string; filename: string }[]
}

const git = (root: string, ...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

if (import.meta.main) {
  try {
    for (const path of await release(join(import.meta.dirname, '..'))) console.log(path)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}
