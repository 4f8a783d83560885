import type { AuthorityStore } from '../../host-setup/authority-files.ts'
import type { LocalAccess } from '../../hypervisor/local-access.ts'
import { openVerifiedVault } from '../../kernel/database/master-key.ts'
import type { Admin } from '../admin-command.ts'

/** The certificate authorities, with those that an older version has left in the data folder. */
export async function openAuthorityStore({ config, db }: Pick<Admin, 'config' | 'db'>): Promise<AuthorityStore> {
  const { takePkiFolder } = await import('../../host-setup/pki-folder.ts') // imported on demand: few commands need it
  const store = { db, vault: await openVerifiedVault(db, config.masterKeyFile) }
  await takePkiFolder(store, config.dataDir)
  return store
}

/** How hosts and network controllers are reached from here. Those on this machine need no certificates, and so no master key. */
export async function openAccess(admin: Pick<Admin, 'config' | 'db'>): Promise<LocalAccess> {
  const [{ directAccess }, { readAuthorityFiles }] = await Promise.all([
    import('../../hypervisor/local-access.ts'),
    import('../../host-setup/authority-files.ts'),
  ])
  let store: Promise<AuthorityStore> | undefined
  return directAccess(async (names) => readAuthorityFiles(await (store ??= openAuthorityStore(admin)), names))
}
