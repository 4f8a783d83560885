// Installations of versions before the authorities were in the database: their folders, of one machine or copied to several.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { openAuthorities, type TestAuthorities } from '../../test/authorities.ts'
import { testDatabase } from '../../test/harness.ts'
import { scratchFolder } from '../../test/scratch-folder.ts'
import { certificates } from '../commands/doctor/certificates.ts'
import { readConfig } from '../config.ts'
import { sql } from '../kernel/database/db.ts'
import { readAuthorityFiles, withAuthorityFiles } from './authority-files.ts'
import { openAuthority, replaceAuthority, revokeCertificates, revokedSerials } from './certificate-authority.ts'
import { issueBundle, issuedRange } from './issue-bundle.ts'
import { otherAuthoritiesIn, takePkiFolder } from './pki-folder.ts'

const folder = await scratchFolder()
const store = await openAuthorities(await testDatabase(), folder.path)
afterAll(async () => {
  await store.close()
  await folder.remove()
})
const NAMES = [
  'ca.pem',
  'ca.key',
  'ca-crl.pem',
  'ca.index',
  'client.pem',
  'client.key',
  'network-ca.pem',
  'chassis-ca.key',
  'migration-here.pem',
]
const all = (by: TestAuthorities = store) => readAuthorityFiles(by, [...NAMES, 'ranges.json', 'migration-here.index'])
const empty = () => store.db.run(sql`delete from pki_files`)

/** As an older version leaves it: what the authorities have now. */
let machines = 0
async function oldMachine(): Promise<string> {
  const dataDir = join(folder.path, `machine-${++machines}`)
  await mkdir(join(dataDir, 'pki'), { recursive: true, mode: 0o700 })
  await withAuthorityFiles(store, (from) => cp(from, join(dataDir, 'pki'), { recursive: true }))
  await writeFile(join(dataDir, 'pki/lock'), '')
  return dataDir
}
const issue = (address: string) =>
  issueBundle(store, address, { regionId: 'here', inUse: [], controllers: ['10.0.0.1'] }, join(folder.path, 'bundle'))

beforeEach(async () => {
  await empty()
  await issue('10.0.0.5')
  await issue('10.0.0.6')
  await revokeCertificates(store, '10.0.0.6')
})

describe('a folder of an older version', { timeout: 60_000 }, () => {
  test('goes on in the database as it was, and is taken once', async () => {
    const [before, dataDir] = [await all(), await oldMachine()]
    await empty()
    expect(await takePkiFolder(store, dataDir)).toEqual([])
    expect(await all()).toEqual(before)
    const rows = sql`select name, changed_at from pki_files order by name`
    const taken = await store.db.many(rows)
    expect(await takePkiFolder(store, dataDir)).toEqual([])
    expect(await store.db.many(rows)).toEqual(taken)
    expect(await readFile(join(dataDir, 'pki/client.pem'), 'utf8')).toBe(before.get('client.pem')) // for a process of the older version
    const authority = await openAuthority(store)
    expect([await revokedSerials(store), await authority.revoke('10.0.0.5'), await issuedRange(store, '10.0.0.6')]).toEqual([
      [expect.any(String), expect.any(String)],
      3,
      '10.78.0.0/16',
    ])
  })

  test('adds what an older copy, taken first, does not know', async () => {
    const copy = await oldMachine()
    const authority = await openAuthority(store)
    await issue('10.0.0.7')
    await authority.revoke('10.0.0.5')
    await authority.replaceClients()
    const [now, issuing] = [await all(), await oldMachine()]
    await empty()
    await takePkiFolder(store, copy)
    expect(await revokedSerials(store)).toHaveLength(2)
    await takePkiFolder(store, issuing)
    const merged = await all()
    for (const name of ['ca.pem', 'ca.key', 'client.pem', 'client.key', 'ranges.json']) expect(merged.get(name)).toBe(now.get(name))
    const lines = (files: Map<string, string>, name: string): string[] => files.get(name)!.split('\n').toSorted()
    for (const name of ['ca.index', 'migration-here.index']) expect(lines(merged, name)).toEqual(lines(now, name))
    await takePkiFolder(store, copy) // a machine that starts last
    expect(await all()).toEqual(merged)
    expect(await openAuthority(store).then((opened) => opened.revoke('10.0.0.7'))).toBe(3)
  })

  test('of a machine without the keys lets it reach hosts, until the keys come', async () => {
    const [whole, bare] = [await oldMachine(), await oldMachine()]
    await empty()
    for (const name of ['ca.key', 'network-ca.key', 'chassis-ca.key', 'migration-here.key', 'ca.index']) await rm(join(bare, 'pki', name))
    await takePkiFolder(store, bare)
    expect([...(await all()).keys()].filter((name) => /^(client|ca)\./.test(name)).toSorted()).toEqual([
      'ca.pem',
      'client.key',
      'client.pem',
    ])
    await takePkiFolder(store, whole)
    expect((await openAuthority(store)).name).toMatch(/^berth-control-plane-/)
    expect(await revokeCertificates(store, '10.0.0.5')).toBe(3)
  })

  test('with another authority is left alone, and doctor says so', async () => {
    const dataDir = await oldMachine()
    const config = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_DATABASE_URL: store.db.url })
    await cp(join(folder.path, 'master.key'), config.masterKeyFile)
    expect(await certificates(config)).toMatchObject({ status: 'warning', message: expect.stringContaining('is not used any more') })
    await replaceAuthority(store, 'ca')
    const before = await all()
    expect([await takePkiFolder(store, dataDir), await otherAuthoritiesIn(store, dataDir)]).toEqual([['ca'], ['ca']])
    expect(await all()).toEqual(before)
    expect(await certificates(config)).toMatchObject({ status: 'warning', message: expect.stringContaining('has other authorities') })
  })
})
