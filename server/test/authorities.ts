// The certificate authorities of a control plane, as its processes have them.
import { join } from 'node:path'
import { readAuthorityFiles, type AuthorityStore } from '../src/host-setup/authority-files.ts'
import { directAccess, type LocalAccess } from '../src/hypervisor/local-access.ts'
import { openDb } from '../src/kernel/database/db.ts'
import { openVerifiedVault } from '../src/kernel/database/master-key.ts'

export interface TestAuthorities extends AuthorityStore {
  /** With their client certificates. */
  access: LocalAccess
  close(): Promise<void>
}

/** `dataDir`: with the master key, which is made there where the database has none yet. */
export async function openAuthorities(url: string, dataDir: string): Promise<TestAuthorities> {
  const db = openDb({ url, maxConnections: 4, onError: () => {} })
  const store = { db, vault: await openVerifiedVault(db, join(dataDir, 'master.key')) }
  return { ...store, access: directAccess((names) => readAuthorityFiles(store, names)), close: () => db.close() }
}
