// The audit record of a write: who, from where, what, and the outcome. Never a body or a secret; of an update,
// the fields that it changed. A success is recorded in the transaction
// of the effect; a denied request has none, so it is recorded afterwards without delaying the response.
import type { FastifyRequest } from 'fastify'
import type { Tx } from '../../kernel/database/db.ts'
import { isDryRun } from './dry-run.ts'
import { fieldChanges, nameOf, type FieldChange } from './field-changes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Overrides the operation id, where it does not say what was done. */
    auditedAs?: string
    /** Overrides the account of a personal operation, which is all of the user's. */
    auditedIn?: string
    /** What was changed, where neither the path nor the answer has its ids as such. */
    auditedIds?: string[]
  }
}

export interface AuditedAccount {
  accountId: string
  payerId: string
}

export interface AuditRecord extends AuditedAccount {
  actorType: 'token' | 'person' | 'operator'
  /** Null where the account does not learn which operator it was. */
  actorId: string | null
  actorName: string
  /** Who was signed in, or made the token. */
  person: { id: string; name: string } | null
  ip: string | null
  requestId: string
  action: string
  method: string
  route: string
  /** Those of the path, in its order, then of the created resource. */
  resourceIds: string[]
  status: number
  code: string | null
  /** The first half of the scope that the call needs: who may not read such resources is not shown the next two. */
  resource: string | null
  /** The name of the last of the ids, where the answer or what was there before has one. */
  resourceName: string | null
  changes: FieldChange[]
}

export interface Audit {
  recordSuccess(tx: Tx, call: AuditRecord): void
  /** Never throws and never blocks. */
  recordDenied(call: AuditRecord): void
}

/** Requests without a principal or a route belong to no account's log. A dry run attempts nothing: a price preview that is refused
 *  would read like a change that was. */
export function isAudited(request: FastifyRequest): boolean {
  const { method, principal, routeOptions } = request
  return method !== 'GET' && method !== 'HEAD' && principal !== null && routeOptions.config.operationId !== undefined && !isDryRun(request)
}

/** One for each account that it concerns. `before`: the resource as it was, for what changes or deletes one. */
export function toAuditRecords(
  request: FastifyRequest,
  status: number,
  code: string | null,
  { data, before }: { data?: unknown; before?: unknown } = {},
): AuditRecord[] {
  const { actorType, actorId, actorName, person } = request.principal
  const { operationId = '', route = '', scope, isPersonal } = request.routeOptions.config
  // What is personal is in the log of each account of the user, and answers may name the others.
  const told = isPersonal ? undefined : data
  const ids = [...resourceIds(request.params, told), ...(request.auditedIds ?? [])]
  const who = { actorType, actorId, actorName, person, ip: request.ip, requestId: request.id }
  const record = {
    ...who,
    action: request.auditedAs ?? operationId,
    method: request.method,
    route,
    resourceIds: ids,
    status,
    code,
    resource: scope?.includes(':') ? scope.split(':')[0]! : null,
    resourceName: nameOf(thingsOf(told).find((each) => each.id === ids.at(-1))) ?? nameOf(before),
    changes: fieldChanges(request.body, before, data),
  }
  const { signedIn } = request.principal
  if (signedIn?.visit && !request.routeOptions.config.isPersonal) return recordsOfVisit(record, request.principal, signedIn.visit)
  return accountsOf(request).map((account) => ({ ...record, ...account }))
}

/** In the account of the customer, which does not learn which operator it was, and in the operator's own. */
const recordsOfVisit = (
  record: Omit<AuditRecord, keyof AuditedAccount>,
  { accountId, payerId }: AuditedAccount,
  { home }: { home: AuditedAccount },
): AuditRecord[] => [
  { ...record, accountId, payerId, actorType: 'operator', actorId: null, actorName: 'operator', person: null, ip: null },
  { ...record, ...home, resourceIds: [accountId, ...record.resourceIds], resourceName: null, changes: [] },
]

function accountsOf({
  principal: { accountId, payerId, signedIn },
  routeOptions: { config },
  auditedIn,
}: FastifyRequest): AuditedAccount[] {
  if (auditedIn !== undefined) return [{ accountId: auditedIn, payerId: auditedIn }]
  if (signedIn && config.isPersonal) return signedIn.accounts
  return accountId === '' ? [] : [{ accountId, payerId }]
}

interface Visit {
  ip: string
  requestId: string
  operation: Pick<AuditRecord, 'action' | 'route'>
}

/** Of a call that is made without a principal, such as a sign-in, once it is known whose it is. */
export const toUserAuditRecords = (
  { ip, requestId, operation }: Visit,
  user: { id: string; email: string; accounts: AuditedAccount[] },
  status: number,
  code: string | null,
  ids: string[] = [],
): AuditRecord[] =>
  user.accounts.map((account) => ({
    ...account,
    actorType: 'person',
    actorId: user.id,
    actorName: user.email,
    person: { id: user.id, name: user.email },
    ip,
    requestId,
    ...operation,
    method: 'POST',
    resourceIds: ids,
    status,
    code,
    resource: null,
    resourceName: null,
    changes: [],
  }))

/** A client may send a secret in place of an id: only what looks like our id is kept. */
const OUR_ID = /^c[0-9a-z]{24}$/

const isOurId = (value: unknown): value is string => typeof value === 'string' && OUR_ID.test(value)

function resourceIds(params: unknown, data: unknown): string[] {
  const named = Object.values(params ?? {}).filter(isOurId)
  return [
    ...new Set([
      ...named,
      ...thingsOf(data)
        .map(({ id }) => id)
        .filter(isOurId),
    ]),
  ]
}

/** What a response is about: `{ id, … }`, `{ thing: { id, … }, … }`, or several things in a list of the answer. */
function thingsOf(data: unknown): { id: unknown }[] {
  if (typeof data !== 'object' || data === null) return []
  if (hasId(data)) return [data]
  const values: unknown[] = Object.values(data)
  return [values.find(hasId), ...values.filter(Array.isArray).flat()].filter(hasId)
}

const hasId = (value: unknown): value is { id: unknown } => typeof value === 'object' && value !== null && 'id' in value
