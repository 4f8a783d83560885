// The file that `berthd backup` writes, here and in backup targets: all data of the control plane, authenticated by the master key.
import { systemClock } from '../../kernel/clock.ts'
import type { Vault } from '../../kernel/crypto.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import { storedFingerprint } from '../../kernel/database/master-key.ts'
import { writeArchive } from '../../kernel/dump/dump.ts'
import { FORMAT, type NewMac, type Summary } from '../../kernel/dump/format.ts'
import { VERSION } from '../../kernel/version.ts'

export const KIND = 'backup of Berth'
/** The queue is rebuilt from workflow_runs, migrations are applied instead of copied, triggers count the idempotency keys again, and tokens that give
 *  away the master key end with their hour. */
export const EXCLUDED = {
  schemas: ['pgboss'],
  tables: ['schema_migrations', 'idempotency_usage', 'join_tokens'],
  filledFrom: ['idempotency_keys'],
}

export const macOf =
  (vault: Vault): NewMac =>
  () =>
    vault.hmac('backup archive')

/** `key`: the fingerprint of the master key, where the database does not know it. */
export async function writeControlPlane(db: Db, file: string, newMac: NewMac | null, key: string | null = null): Promise<Summary> {
  const migrations = await db.many<{ name: string; checksum: string }>(sql`select name, checksum from schema_migrations order by name`)
  const head = {
    archive: KIND,
    format: FORMAT,
    version: VERSION,
    createdAt: systemClock.now().toISOString(),
    migrations,
    key: (await storedFingerprint(db))?.toString('hex') ?? key,
  }
  return writeArchive(db.url, file, head, EXCLUDED, newMac)
}
