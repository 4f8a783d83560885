// Identity providers, as operators set them up. Nothing is stored before the provider was asked.
import type { Vault } from '../../kernel/crypto.ts'
import type { Db, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { NAME_PATTERN } from '../../http/api/schema.ts'
import { queueMail } from './mails.ts'
import { sealSecret } from './provider-client.ts'
import { discover } from './provider-metadata.ts'
import * as sql from './sql.ts'

export interface NewProvider {
  name: string
  title: string
  issuer: string
  clientId: string
  clientSecret: string
  isSecondFactor: boolean
}

interface ProviderDeps {
  db: Db
  vault: Vault
  now: Date
}

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/
const PLAIN = new RegExp(NAME_PATTERN, 'u')

export async function addProvider({ db, vault, now }: ProviderDeps, input: NewProvider): Promise<sql.ProviderRow> {
  const { name, issuer } = input
  if (!NAME.test(name)) throw invalid('the name must be 1-32 lower-case letters, digits and hyphens', 'name')
  const id = newId()
  const row: sql.ProviderRow = {
    id,
    name,
    issuer,
    ...toColumns(vault, id, input),
    metadata: await discover(issuer),
    discovered_at: now,
    discovery_error: null,
    created_at: now,
  }
  if ((await db.tx((tx) => sql.insertProvider(tx, row))) === 0)
    throw apiError('already_exists', `There is an identity provider ${name} already, or one with this issuer and client`)
  return row
}

function toColumns(vault: Vault, id: string, { title, clientId, clientSecret, isSecondFactor }: Omit<NewProvider, 'name' | 'issuer'>) {
  if (title === '' || title.length > 50 || !PLAIN.test(title)) throw invalid('the title must be 1-50 characters on one line', 'title')
  if (clientId === '' || clientId.length > 255) throw invalid('the client ID must be 1-255 characters', 'clientId')
  if (clientSecret === '' || clientSecret.length > 1024) throw invalid('the client secret must be 1-1024 characters', 'clientSecret')
  return { title, client_id: clientId, client_secret: sealSecret(vault, id, clientSecret), is_second_factor: isSecondFactor }
}

export const changeProvider = (
  { db, vault }: Omit<ProviderDeps, 'now'>,
  name: string,
  { title, clientSecret, isSecondFactor }: { title?: string; clientSecret?: string; isSecondFactor?: boolean },
): Promise<sql.ProviderRow> =>
  db.tx(async (tx) => {
    const row = await lockProvider(tx, name)
    const next = { title: title ?? row.title, clientId: row.client_id, clientSecret: clientSecret ?? '-' }
    const columns = toColumns(vault, row.id, { ...next, isSecondFactor: isSecondFactor ?? row.is_second_factor })
    const changed = { ...row, ...columns, ...(clientSecret === undefined && { client_secret: row.client_secret }) }
    await sql.updateProvider(tx, changed)
    // Who was let in without a code of their own because of it.
    if (row.is_second_factor && !changed.is_second_factor) await sql.endSessionsOf(tx, row.id)
    return changed
  })

async function lockProvider(tx: Tx, name: string): Promise<sql.ProviderRow> {
  const row = await sql.lockProvider(tx, name)
  if (!row) throw notFound(`Identity provider ${name}`)
  return row
}

export interface Removed {
  provider: sql.ProviderRow
  people: { user_id: string; email: string; is_last: boolean }[]
}

/** Its identities go with it, and the sessions that were begun by them. Everybody is told by mail, who has no other way in with a link to a password. */
export async function removeProvider(tx: Tx, now: Date, name: string, base: string): Promise<Removed> {
  const provider = await lockProvider(tx, name)
  const people = await sql.listPeopleOf(tx, provider.id)
  for (const { user_id, label, is_last } of people)
    await queueMail(tx, now, { kind: is_last ? 'LAST_REMOVED' : 'REMOVED', userId: user_id, providerTitle: provider.title, label, base })
  await sql.deleteProvider(tx, provider.id)
  return { provider, people }
}
