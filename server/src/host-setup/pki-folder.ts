// Versions before this one kept the certificate authorities in `pki/` of the data folder, copied by hand to each machine. What is there is added to
// the database at each start. The folder stays, for processes of such a version beside this one and for a way back; the operator removes it.
import { X509Certificate } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withFileLock } from '../kernel/file-lock.ts'
import { readAuthorityFiles, withAuthorityFiles, type AuthorityStore } from './authority-files.ts'
import { exists, readFileOrNull } from './shell.ts'
import { AUTHORITIES, CLIENTS, crlFile, daysLeft, indexFile, migrationCa, revokedIn, writeCrl, type AuthorityName } from './signing.ts'

export const pkiFolder = (dataDir: string): string => join(dataDir, 'pki')

type Files = Map<string, string>

/** Answers the authorities in the folder that are others than those of the database: they are not taken. */
export async function takePkiFolder(store: AuthorityStore, dataDir: string): Promise<AuthorityName[]> {
  if (!(await exists(pkiFolder(dataDir)))) return []
  const found = await withFileLock(join(pkiFolder(dataDir), 'lock'), () => readFolder(pkiFolder(dataDir))) // as the older version locks it
  return withAuthorityFiles(store, async (folder) => {
    const others: AuthorityName[] = []
    for (const name of authoritiesIn(found)) {
      const known = await readFileOrNull(join(folder, `${name}.pem`))
      if (known === null || known === found.get(`${name}.pem`)) await take(folder, name, found)
      else others.push(name)
    }
    if (others.length === 0) await takeRanges(folder, found)
    return others
  })
}

/** The same, without taking anything. */
export async function otherAuthoritiesIn(store: AuthorityStore, dataDir: string): Promise<AuthorityName[]> {
  const found = await readFolder(pkiFolder(dataDir))
  const names = authoritiesIn(found)
  const known = await readAuthorityFiles(
    store,
    names.map((name) => `${name}.pem`),
  )
  return names.filter((name) => known.get(`${name}.pem`) !== found.get(`${name}.pem`))
}

async function readFolder(path: string): Promise<Files> {
  const names = (await readdir(path)).filter((name) => /\.(pem|key|index)$|^ranges\.json$/.test(name))
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')] as const)))
}

const authoritiesIn = (found: Files): AuthorityName[] => [
  ...AUTHORITIES.filter((name) => found.has(`${name}.pem`)),
  ...[...found.keys()].flatMap((name) => (/^migration-(.+)(?<!-crl)\.pem$/.exec(name) ?? []).slice(1).map(migrationCa)),
]

/** Copies differ: one machine has issued and revoked what others do not know of. */
async function take(folder: string, name: AuthorityName, found: Files): Promise<void> {
  const write = (file: string, text: string): Promise<void> => writeFile(join(folder, file), text, { mode: 0o600 })
  const clients = Object.entries(CLIENTS).flatMap(([client, signer]) => (signer === name ? client : []))
  const files = [name, ...clients].flatMap((each) => [`${each}.pem`, `${each}.key`])
  if (name !== 'chassis-ca') files.push(indexFile(name), crlFile(name))
  for (const file of files) if (found.has(file) && !(await exists(join(folder, file)))) await write(file, found.get(file)!)
  if (name === 'chassis-ca') return
  const known = (await readFileOrNull(join(folder, indexFile(name)))) ?? ''
  const index = joined(known, found.get(indexFile(name)) ?? '')
  if (index !== known) await write(indexFile(name), index)
  if (index !== known && (await exists(join(folder, `${name}.key`)))) await writeCrl(folder, name) // a copy may lack the key
  for (const client of clients) {
    const [pem, key] = [found.get(`${client}.pem`), found.get(`${client}.key`)]
    const ours = await readFileOrNull(join(folder, `${client}.pem`))
    if (pem === undefined || key === undefined || worth(pem, index) <= worth(ours, index)) continue
    await write(`${client}.key`, key)
    await write(`${client}.pem`, pem)
  }
}

/** Each certificate once, as revoked if either has it so. */
function joined(known: string, found: string): string {
  const lines = new Map<string, string>()
  for (const line of [...known.split('\n'), ...found.split('\n')].filter(Boolean)) {
    const serial = line.split('\t')[3]!
    if (!lines.has(serial) || (line.startsWith('R') && !lines.get(serial)!.startsWith('R'))) lines.set(serial, line)
  }
  return [...lines.values()].map((line) => `${line}\n`).join('')
}

/** Days for which it will be accepted. */
const worth = (pem: string | null, index: string): number =>
  pem === null || revokedIn(index).includes(new X509Certificate(pem).serialNumber) ? -1 : daysLeft(pem)

async function takeRanges(folder: string, found: Files): Promise<void> {
  const [known, taken] = [await readFileOrNull(join(folder, 'ranges.json')), found.get('ranges.json')]
  if (taken === undefined) return
  await writeFile(join(folder, 'ranges.json'), JSON.stringify({ ...JSON.parse(taken), ...JSON.parse(known ?? '{}') }), { mode: 0o600 })
}
