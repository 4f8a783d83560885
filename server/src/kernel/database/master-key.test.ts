import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { scratchFolder } from '../../../test/scratch-folder.ts'
import { openVault } from '../crypto.ts'
import { openDb, sql } from './db.ts'
import { openVerifiedVault } from './master-key.ts'

const folder = await scratchFolder()
const db = openDb({ url: await testDatabase(), maxConnections: 4, onError: () => {} })
afterAll(() => Promise.all([db.close(), folder.remove()]))
beforeEach(() => db.run(sql`delete from master_key`))
let files = 0
const newPath = (): string => join(folder.path, `${files++}.key`)

describe('the key of a database', () => {
  test('is created once under concurrent starts and recognised again', async () => {
    const path = newPath()
    const [one, ...others] = await Promise.all(Array.from({ length: 4 }, () => openVerifiedVault(db, path)))
    for (const each of [...others, await openVerifiedVault(db, path)])
      expect(each.open(one!.seal('a secret', 'of a test'), 'of a test')).toBe('a secret')
  })

  test('is the existing one, where the data has no fingerprint yet', async () => {
    const path = newPath()
    const sealed = openVault(path).seal('a secret', 'of a test')
    expect((await openVerifiedVault(db, path)).open(sealed, 'of a test')).toBe('a secret')
    await expect(openVerifiedVault(db, newPath())).rejects.toThrow(/is missing/)
  })

  test('is not replaced when it is missing', async () => {
    await openVerifiedVault(db, newPath())
    const elsewhere = newPath()
    await expect(openVerifiedVault(db, elsewhere)).rejects.toThrow(`The master key ${elsewhere} is missing`)
    expect(existsSync(elsewhere)).toBe(false)
  })

  test('must match the fingerprint', async () => {
    await openVerifiedVault(db, newPath())
    const other = newPath()
    openVault(other)
    const text = readFileSync(other, 'utf8')
    await expect(openVerifiedVault(db, other)).rejects.toThrow(`The master key ${other} is another one`)
    expect(readFileSync(other, 'utf8')).toBe(text)
  })
})
