// Which key the secrets in a database are sealed with: noted there by the first process that starts, and compared by every other. With
// another key a process would fail on what is there, and seal what no other process can open.
import { existsSync } from 'node:fs'
import { openVault, type Vault } from '../crypto.ts'
import { sql, type Queries } from './db.ts'

/** Recognises the key in the file. */
export const keyFingerprint = (path: string): Buffer => markOf(openVault(path))

const markOf = (vault: Vault): Buffer => vault.digest('which key is this')

export const storedFingerprint = async (db: Queries): Promise<Buffer | undefined> =>
  (await db.maybe<{ mark: Buffer }>(sql`select mark from master_key`))?.mark

/** For whoever has lost the key: the next process that starts notes another. */
export const clearFingerprint = (db: Queries): Promise<number> => db.run(sql`delete from master_key`)

/** Makes the key of a database that has none yet. Any number of processes may do so at once: a key that is noted is in its file already. */
export async function openVerifiedVault(db: Queries, path: string): Promise<Vault> {
  if ((await storedFingerprint(db)) && !existsSync(path)) throw wrongKey(path, 'is missing')
  const vault = openVault(path)
  await db.run(sql`insert into master_key (mark) values (${markOf(vault)}) on conflict do nothing`)
  if (!(await storedFingerprint(db))?.equals(markOf(vault))) throw wrongKey(path, 'is another one')
  return vault
}

const wrongKey = (path: string, how: string): Error =>
  new Error(
    `The master key ${path} ${how}, and the secrets in the database cannot be read without the right one. Put that there: from your backup, or from another machine that runs Berth on this database`,
  )
