// An operator signs in to the account of a customer: for an hour at most, to read, or by a second step to change things too. It never gives secrets
// or a login to a VM away, and changes neither who may do what in the account nor what is in its wallet but by what is bought. Both audit logs say so: that of the customer without naming the operator.
import type { Principal } from '../../http/api/principal.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { findAccount, SCOPES } from '../accounts/service.ts'
import { recordByOperator } from '../audit-log/service.ts'
import type { Deps } from '../deps.ts'
import * as sql from './visits.sql.ts'

const LONGEST_VISIT = '1h'

const READ = SCOPES.filter((scope) => scope.endsWith(':read'))

/** Of these resources a visit changes nothing: they are rights and secrets of the customer, or the customer's word. */
const NEVER_CHANGED = new Set(['account', 'members', 'projects', 'ssh_keys', 'tickets', 'tokens', 'wallet', 'webhooks'])
/** A console shows what the customer types. */
const NEVER = new Set(['vms:console'])

const WRITE = SCOPES.filter((scope) => READ.includes(scope) || (!NEVER_CHANGED.has(scope.split(':')[0]!) && !NEVER.has(scope)))

export const scopesOfVisit = ({ writes_since }: Pick<sql.VisitRow, 'writes_since'>): string[] => (writes_since === null ? READ : WRITE)

/** From the operator's own account. A visit of the same account before it is over. */
export async function startVisit(
  tx: Tx,
  { clock }: Pick<Deps, 'clock'>,
  { actorId, signedIn }: Principal,
  idOrEmail: string,
  reason: string,
): Promise<sql.FoundVisit> {
  const account = await findAccount(tx, idOrEmail)
  if (!account || account.deleted_at !== null) throw notFound('Account')
  if (await sql.isOfOperator(tx, account.id))
    throw apiError('invalid_state', 'An operator is a member of this account: nobody signs in to the accounts of operators')
  const now = clock.now()
  const { sessionId } = signedIn!
  await sql.endVisits(tx, now, sessionId, account.id)
  const visit = { user_id: actorId, session_id: sessionId, account_id: account.id, reason, started_at: now }
  await sql.insertVisit(tx, { id: newId(), ...visit, ends_at: addDuration(now, LONGEST_VISIT) })
  recordByOperator(tx, now, { accountId: account.id, action: 'account visit' })
  return (await sql.findVisit(tx, now, sessionId, account.id))!
}

const visitOf = ({ signedIn }: Principal) => {
  if (!signedIn?.visit) throw notFound('Visit')
  return { id: signedIn.visit.id, sessionId: signedIn.sessionId }
}

export async function allowChanges(tx: Tx, { clock }: Pick<Deps, 'clock'>, principal: Principal, reason: string): Promise<void> {
  await sql.allowWrites(tx, clock.now(), visitOf(principal).id, reason)
  recordByOperator(tx, clock.now(), { accountId: principal.accountId, action: 'account visit changes' })
}

export async function endVisit(tx: Tx, { clock }: Pick<Deps, 'clock'>, principal: Principal): Promise<void> {
  await sql.endVisits(tx, clock.now(), visitOf(principal).sessionId, principal.accountId)
  recordByOperator(tx, clock.now(), { accountId: principal.accountId, action: 'account visit end' })
}

const MOST_LISTED = 50

/** Newest first. */
export const listVisits = (db: Queries, accountId: string) => sql.listVisits(db, accountId, MOST_LISTED)
