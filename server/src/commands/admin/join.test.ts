// Two machines on one database: the second gets the master key by a token, and with it everything that the first has sealed.
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openAuthorities, type TestAuthorities } from '../../../test/authorities.ts'
import { testDatabase } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson, type Settings } from '../../../test/processes.ts'
import { scratchFolder } from '../../../test/scratch-folder.ts'
import { openAuthority, revokedSerials } from '../../host-setup/certificate-authority.ts'
import { issueBundle } from '../../host-setup/issue-bundle.ts'
import { newToken, openVault } from '../../kernel/crypto.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { createJoinToken, pruneJoinTokens, useJoinToken } from '../../kernel/database/join-token.ts'
import { readVerifiedKey } from '../../kernel/database/master-key.ts'

const folder = await scratchFolder()
const url = await testDatabase()
const db = openDb({ url, maxConnections: 4, onError: () => {} })
const opened: TestAuthorities[] = []
afterAll(async () => {
  await Promise.all([db.close(), ...opened.map((each) => each.close())])
  await folder.remove()
})

const keyIn = ({ BERTH_DATA_DIR: dataDir }: Settings): string => join(dataDir!, 'master.key')
const machine = (name: string): Settings => ({ BERTH_DATABASE_URL: url, BERTH_DATA_DIR: join(folder.path, name) })
const open = async (settings: Settings): Promise<TestAuthorities> => {
  opened.push(await openAuthorities(url, settings['BERTH_DATA_DIR']!))
  return opened.at(-1)!
}
const [first, second, third] = [machine('first'), machine('second'), machine('third')]
const invite = async (): Promise<string> => (await berthdJson(first, 'join-token'))['token']!
const hasKey = (settings: Settings): Promise<boolean> =>
  stat(keyIn(settings)).then(
    () => true,
    () => false,
  )

await mkdir(first['BERTH_DATA_DIR']!)
await readVerifiedKey(db, keyIn(first))
let token: string

describe('berthd join', { timeout: 120_000 }, () => {
  test('gives another machine the master key, by a token in a file', async () => {
    token = await invite()
    const file = join(folder.path, 'token')
    await writeFile(file, `${token}\n`)
    const joined = await berthd(second, 'join', '--token-file', file)
    expect(joined).toMatchObject({ code: 0, stdout: expect.stringContaining(`This machine has the master key, in ${keyIn(second)}`) })
    expect([await readFile(keyIn(second), 'utf8'), (await stat(keyIn(second))).mode & 0o777]).toEqual([
      await readFile(keyIn(first), 'utf8'),
      0o600,
    ])
    expect(await berthd(second, 'doctor', 'key')).toMatchObject({ code: 0 })
  })

  test('stores neither the token nor the key in the database', async () => {
    await invite()
    const rows = await db.many<{ text: string }>(
      sql`select encode(hash, 'escape') || encode(sealed_key, 'escape') as text from join_tokens`,
    )
    const text = JSON.stringify(rows)
    expect([text.includes(token), text.includes((await readFile(keyIn(first), 'utf8')).trim())]).toEqual([false, false])
  })

  test('refuses a token that is mistyped, unknown, used or expired, and changes nothing', async () => {
    const expired = await invite()
    await db.run(
      sql`update join_tokens set expires_at = now() - interval '1 second' where expires_at = (select max(expires_at) from join_tokens)`,
    )
    const nothing = join(folder.path, 'nothing')
    await writeFile(nothing, '')
    const refused = await Promise.all([
      berthd(third, 'join', token.slice(0, -1)),
      berthd(third, 'join', '--token-file', nothing),
      berthd(third, 'join', newToken('berthjoin_')),
      berthd(third, 'join', token),
      berthd(third, 'join', expired),
      berthd(third, 'join'),
      berthd({ ...third, BERTH_DATABASE_URL: '' }, 'join', token),
    ])
    expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
      [1, expect.stringContaining('This is no join token')],
      [1, expect.stringContaining('This is no join token')],
      [1, expect.stringContaining('is not of this database')],
      [1, expect.stringContaining('was used already')],
      [1, expect.stringContaining('has expired at')],
      [2, expect.stringContaining('either a token or --token-file')],
      [1, expect.stringContaining('Set BERTH_DATABASE_URL')],
    ])
    expect(await hasKey(third)).toBe(false)
    const again = await berthd(second, 'join', token)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('this machine has the right master key already')])
  })

  test('never replaces another key, and does not use up the token then', async () => {
    const fresh = await invite()
    await mkdir(third['BERTH_DATA_DIR']!, { recursive: true })
    openVault(keyIn(third))
    const own = await readFile(keyIn(third), 'utf8')
    const refused = await berthd(third, 'join', fresh)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is another one than that of this database')])
    expect(await readFile(keyIn(third), 'utf8')).toBe(own)
    await rm(keyIn(third))
    expect(await berthd(third, 'join', fresh)).toMatchObject({ code: 0 })
  })

  test('can be repeated by the same token after it was killed', async () => {
    const fresh = await invite()
    await rm(keyIn(third))
    await copyFile(keyIn(first), keyIn(third)) // killed between the file and the commit
    expect(await berthd(third, 'join', fresh)).toMatchObject({ code: 0 })
    expect(await berthd(third, 'join', fresh)).toMatchObject({ code: 1, stderr: expect.stringContaining('it needs none') })
  })

  test('serves one machine only, however many try at once', async () => {
    const fresh = await invite()
    const outcomes = await Promise.all(['a', 'b', 'c'].map((name) => berthd(machine(name), 'join', fresh)))
    expect(outcomes.filter(({ code }) => code === 0)).toHaveLength(1)
    expect(await Promise.all(['a', 'b', 'c'].map((name) => hasKey(machine(name))))).toEqual(outcomes.map(({ code }) => code === 0))
  })

  test('says who made and used a token, and takes back those that nobody has used', async () => {
    await db.run(sql`delete from join_tokens`)
    const [used, lost] = [await invite(), await invite()]
    await rm(keyIn(third))
    expect(await berthd(third, 'join', used)).toMatchObject({ code: 0 })
    expect(await berthdJson(first, 'join-token', '--revoke')).toEqual({ revoked: 1 })
    const refused = await berthd(machine('late'), 'join', lost)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('was revoked at')])
    const tokens = await berthdJson<object[]>(first, 'join-token', '--list')
    expect(tokens).toMatchObject([
      { state: 'revoked', madeOn: hostname(), usedOn: null, usedAt: null },
      { state: 'used', madeOn: hostname(), usedOn: hostname(), usedAt: expect.any(String) },
    ])
    expect(JSON.stringify(tokens)).not.toContain('berthjoin_')
    expect(await berthd(first, 'join-token', '--revoke', '--list')).toMatchObject({ code: 2 })
  })

  test('keeps nothing of tokens whose hour has passed', async () => {
    const now = new Date()
    const key = await readVerifiedKey(db, keyIn(first))
    const later = (hours: number): Date => new Date(now.getTime() + hours * 3_600_000)
    const { token: old } = await createJoinToken(db, now, key, 'here')
    expect(await db.tx((tx) => (tx.rollBack(), useJoinToken(tx, later(0.9), old, 'there')))).toEqual(key)
    await pruneJoinTokens(db, later(1.1))
    expect(await db.many(sql`select hash from join_tokens where sealed_key is not null`)).toEqual([])
    await expect(db.tx((tx) => useJoinToken(tx, later(1.1), old, 'there'))).rejects.toThrow('has expired at')
    await pruneJoinTokens(db, later(91 * 24))
    expect(await db.many(sql`select hash from join_tokens`)).toEqual([])
  })
})

describe('machines that have joined', () => {
  test('use the same certificates, and revoke for each other', async () => {
    const [here, there] = [await open(first), await open(second)]
    const [one, other] = [await openAuthority(here), await openAuthority(there)]
    expect([other.ca, other.name]).toEqual([one.ca, one.name])
    const names = ['ca.pem', 'client.pem', 'client.key']
    expect(await there.access.readCertificates(names)).toEqual(await here.access.readCertificates(names))
    await one.issue('10.0.0.5')
    expect(await other.revoke('10.0.0.5')).toBe(1)
    expect(await revokedSerials(here)).toHaveLength(1)
    expect((await openAuthority(here)).crl).toBe((await openAuthority(there)).crl)
    expect((await openAuthority(here)).crl).not.toBe(one.crl)
  })

  test('replace an authority for each other', { timeout: 60_000 }, async () => {
    const here = await open(first)
    const before = await openAuthority(here)
    const refused = await Promise.all([
      berthd(second, 'certificate', 'replace-authority', 'strangers', '--yes'),
      berthd(second, 'certificate', 'replace-authority', 'hosts', '--region', 'fra1', '--yes'),
      berthd(second, 'certificate', 'replace-authority', 'migrations', '--yes'),
    ])
    expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
      [2, expect.stringContaining('The authorities are hosts, networks, chassis, migrations')],
      [2, expect.stringContaining('--region is for the authority of migrations')],
      [2, expect.stringContaining('has signed nothing yet')],
    ])
    expect(await berthdJson(second, 'certificate', 'replace-authority', 'chassis', '--yes')).toMatchObject({ authority: 'chassis' })
    const after = await openAuthority(here)
    expect([after.chassisCa === before.chassisCa, after.ca === before.ca, after.networkCa === before.networkCa]).toEqual([
      false,
      true,
      true,
    ])
  })

  test('issue at the same time, and lose nothing', { timeout: 60_000 }, async () => {
    const machines = [await open(first), await open(second)]
    const addresses = Array.from({ length: 8 }, (_, i) => `10.0.1.${i + 1}`)
    const order = { regionId: 'here', inUse: [], controllers: ['10.0.0.1'] }
    const bundles = await Promise.all(
      addresses.map((address, i) => issueBundle(machines[i % 2]!, address, order, join(folder.path, `bundle-${i}`))),
    )
    expect(new Set(bundles.map(({ range }) => range)).size).toBe(addresses.length)
    expect(new Set(bundles.map(({ peers }) => peers!.qemu.ca)).size).toBe(1)
    const authority = await openAuthority(machines[0]!)
    for (const address of addresses) expect(await authority.revoke(address)).toBe(3)
  })
})
