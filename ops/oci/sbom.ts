// The bill of materials of an image, as CycloneDX: every package of Debian and of npm in it, with the checksum by which it was fetched.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Component {
  type: 'library' | 'application' | 'operating-system'
  'bom-ref': string
  name: string
  version: string
  purl: string
  hashes?: { alg: 'SHA-256' | 'SHA-512'; content: string }[]
  licenses?: { license: { name: string } }[]
}

/** `root`: of the image; `lists`: apt's lists of what can be fetched; `lock`: package-lock.json. */
export function sbomOf(root: string, { version, lists, lock }: { version: string; lists: string; lock: string }): string {
  const components = [...debianPackages(root, lists), ...npmPackages(join(root, 'usr/lib/berth/node_modules'), lock)]
  const berth = { type: 'application', 'bom-ref': 'berth', name: 'berth', version }
  const digest = createHash('sha256').update(JSON.stringify(components)).digest('hex')
  const serial = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`, digest.slice(20, 32)]
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${serial.join('-')}`,
    version: 1,
    metadata: { component: berth },
    components,
    dependencies: [{ ref: 'berth', dependsOn: components.map((each) => each['bom-ref']) }],
  }
  return `${JSON.stringify(document, null, 1)}\n`
}

const paragraphs = (text: string): Record<string, string>[] =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((each) => Object.fromEntries([...each.matchAll(/^(\S+): (.*)$/gm)].map(([, key, value]) => [key!, value!])))

function debianPackages(root: string, lists: string): Component[] {
  const checksums = new Map<string, string>()
  for (const file of readdirSync(lists).filter((name) => name.endsWith('_Packages')))
    for (const { Package, Version, Architecture, SHA256 } of paragraphs(readFileSync(join(lists, file), 'utf8')))
      checksums.set(`${Package} ${Version} ${Architecture}`, SHA256!)
  const installed = paragraphs(readFileSync(join(root, 'var/lib/dpkg/status'), 'utf8'))
  return installed
    .filter(({ Package, Status }) => Status === 'install ok installed' && Package !== 'berth')
    .map(({ Package: name = '', Version: version = '', Architecture: arch = '' }) => {
      const checksum = checksums.get(`${name} ${version} ${arch}`)
      if (!checksum) throw new Error(`apt does not know the checksum of ${name} ${version}`)
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}`
      return { type: 'library', 'bom-ref': purl, name, version, purl, hashes: [{ alg: 'SHA-256', content: checksum }] }
    })
}

interface Locked {
  packages: Record<string, { version?: string; integrity?: string }>
}

/** What is really there: the lock file has the packages of every platform. The Node among them is a program of its own. */
function npmPackages(modules: string, lock: string): Component[] {
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as Locked
  const integrityOf = new Map(
    Object.entries(packages).map(([path, { version, integrity }]) => [`${path.split('node_modules/').pop()}@${version}`, integrity]),
  )
  const found = new Map<string, Component>()
  for (const file of manifestsIn(modules)) {
    const { name, version, license } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string; license?: string }
    if (!name || !version) continue
    const integrity = integrityOf.get(`${name}@${version}`)
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    found.set(purl, {
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      purl,
      ...(integrity && { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }] }),
      ...(license && { licenses: [{ license: { name: license } }] }),
    })
  }
  return [...found.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
}

/** package.json of each package, and not those that a package has for its own folders. */
function manifestsIn(modules: string): string[] {
  const packagesIn = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .flatMap(({ name }) => (name.startsWith('@') ? packagesIn(join(folder, name)) : [join(folder, name)]))
  return packagesIn(modules).flatMap((folder) => {
    const entries = readdirSync(folder)
    const nested = entries.includes('node_modules') ? manifestsIn(join(folder, 'node_modules')) : []
    return [...(entries.includes('package.json') ? [join(folder, 'package.json')] : []), ...nested]
  })
}
