// The fingerprint of the master key is stored in the database by the first process, and verified by every other. With another key a process
// could not decrypt existing secrets, and would encrypt secrets that no other process can decrypt.
import { existsSync } from 'node:fs'
import { openVault, readOrCreateKey, vaultFrom, type Vault } from '../crypto.ts'
import { sql, type Queries } from './db.ts'

export const keyFingerprint = (path: string): Buffer => markOf(openVault(path))

const markOf = (vault: Vault): Buffer => vault.digest('which key is this')

export const storedFingerprint = async (db: Queries): Promise<Buffer | undefined> =>
  (await db.maybe<{ fingerprint: Buffer }>(sql`select fingerprint from master_key`))?.fingerprint

/** Whether it is the one of this database. */
export const isStoredKey = async (db: Queries, key: Buffer): Promise<boolean> =>
  (await storedFingerprint(db))?.equals(markOf(vaultFrom(key))) ?? false

/** After the key was lost: the next process stores a new fingerprint. */
export const clearFingerprint = (db: Queries): Promise<number> => db.run(sql`delete from master_key`)

export const openVerifiedVault = async (db: Queries, path: string): Promise<Vault> => vaultFrom(await readVerifiedKey(db, path))

/** Creates the key of a new database. Safe under concurrency: the key file is complete before its fingerprint is stored. */
export async function readVerifiedKey(db: Queries, path: string): Promise<Buffer> {
  if ((await storedFingerprint(db)) && !existsSync(path)) throw wrongKey(path, 'is missing')
  const key = readOrCreateKey(path)
  const mark = markOf(vaultFrom(key))
  await db.run(sql`insert into master_key (fingerprint) values (${mark}) on conflict do nothing`)
  if (!(await storedFingerprint(db))?.equals(mark)) throw wrongKey(path, 'is another one')
  return key
}

const wrongKey = (path: string, how: string): Error =>
  new Error(
    `The master key ${path} ${how}, and the secrets in the database cannot be read without the right one. Put that there from your backup, or on a machine that runs Berth on this database run npx berthd join-token, and here what it prints`,
  )
