// The files of the certificate authorities, in PostgreSQL, where every machine of the control plane finds them. Each is sealed by the master key
// under its name. Who changes them gets all of them in a folder, alone, and what was changed there is stored in one transaction.
import { constants } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import type { Vault } from '../kernel/crypto.ts'
import { sql, type Db } from '../kernel/database/db.ts'
import { exists } from './shell.ts'

export interface AuthorityStore {
  db: Db
  vault: Vault
}

interface SealedFile {
  name: string
  sealed: Buffer
}

/** Those that there are, of one moment: a certificate and its key belong together. */
export async function readAuthorityFiles({ db, vault }: AuthorityStore, names: readonly string[]): Promise<Map<string, string>> {
  return unseal(vault, await db.many<SealedFile>(sql`select name, sealed from pki_files where name = any(${names})`))
}

const contextOf = (name: string): string => `pki ${name}`

function unseal(vault: Vault, files: SealedFile[]): Map<string, string> {
  try {
    return new Map(files.map(({ name, sealed }) => [name, vault.open(sealed, contextOf(name))]))
  } catch (error) {
    throw new Error('The certificate authorities in the database were sealed by another master key than the one of this machine', {
      cause: error,
    })
  }
}

/** Within a process too, so that nobody waits for the lock with a connection in hand. */
const turns = new WeakMap<Db, Promise<unknown>>()

/** No other process is in its `work` at the same time. Files that it writes into the folder are stored; none is removed. */
export function withAuthorityFiles<T>(store: AuthorityStore, work: (folder: string) => Promise<T>): Promise<T> {
  const turn = (turns.get(store.db) ?? Promise.resolve()).then(() => changeFiles(store, work))
  turns.set(
    store.db,
    turn.catch(() => {}),
  )
  return turn
}

/** `work` may run twice, each time in a new folder: what it did in the first is not stored. */
const changeFiles = <T>({ db, vault }: AuthorityStore, work: (folder: string) => Promise<T>): Promise<T> =>
  db.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('certificate authorities', 0))`)
    const known = unseal(vault, await tx.many<SealedFile>(sql`select name, sealed from pki_files`))
    const prefix = `berth-pki-${vault.digest(db.url).toString('hex', 0, 8)}-`
    return withPrivateFolder(prefix, async (folder) => {
      for (const [name, text] of known) await writeFile(join(folder, name), text, { mode: 0o600 })
      const result = await work(folder)
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const text = entry.isFile() ? await readFile(join(folder, entry.name), 'utf8') : undefined
        if (text === undefined || text === known.get(entry.name)) continue
        const sealed = vault.seal(text, contextOf(entry.name))
        const now = systemClock.now()
        await tx.run(sql`
          insert into pki_files (name, sealed, changed_at) values (${entry.name}, ${sealed}, ${now})
          on conflict (name) do update set sealed = excluded.sealed, changed_at = excluded.changed_at`)
      }
      return result
    })
  })

/** Keys in it get on no disk. */
const MEMORY = '/dev/shm'

/** For its owner alone. With the lock in hand, those that are there already are of processes that were killed. */
async function withPrivateFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = (await exists(MEMORY, constants.W_OK)) ? MEMORY : tmpdir()
  const remove = (name: string): Promise<void> => rm(join(parent, name), { recursive: true, force: true })
  for (const name of await readdir(parent)) if (name.startsWith(prefix)) await remove(name).catch(() => {}) // of another user
  const folder = await mkdtemp(join(parent, prefix))
  return work(folder).finally(() => rm(folder, { recursive: true, force: true }))
}
