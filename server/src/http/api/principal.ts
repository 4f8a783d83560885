// The authenticated caller. The mount decides how to authenticate (API token, dashboard session); everything behind it sees only this.
import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../../kernel/errors.ts'

/** A signed-in user with the time of the last password entry. */
export interface SessionContext {
  sessionId: string
  isOperator: boolean
  /** All of which the user is a member, without the projects of those of which the user is owner or admin. */
  accounts: { accountId: string; payerId: string }[]
  /** Why the user can do nothing in the account of this request. */
  refusal: ApiError | null
  /** Of an operator who has signed in to the account of a customer: that of the request. `home` is the operator's own account. */
  visit: { id: string; canWrite: boolean; home: { accountId: string; payerId: string } } | null
  /** When the password was last entered. */
  authenticatedAt: Date
}

export interface Principal {
  /** Empty for a user who named none of several accounts: whatever is not personal is refused then. */
  accountId: string
  /** Who pays for the account: the same, or another one where the account is a project. Limits are those of the payer. */
  payerId: string
  /** Of which the person is a member: of the account, or as owner or admin of the payer. */
  memberOf: string
  actorType: 'token' | 'person'
  /** Id of the token or user, for logs and audit. */
  actorId: string
  actorName: string
  /** Of a token: its id, after those of the tokens that it was made with, the first of them by a person. Empty for a person. */
  tokenIds: readonly string[]
  /** Who is signed in, or made the token; null where nobody knows. */
  person: { id: string; name: string } | null
  /** Whether what is left of a budget is told with every answer. */
  hasBudget: boolean
  scopes: ReadonlySet<string>
  requestsPerMinute: number
  /** Null for a token. */
  signedIn: SessionContext | null
}

interface Asked {
  principal: Principal
  isDryRun: boolean
}

/** Of transactions that answer a request. */
const asked = new WeakMap<object, Asked>()

export const bindRequest = (tx: object, request: Asked): void => void asked.set(tx, request)

/** Whose request the transaction answers; undefined for work that nobody asked for by a request. */
export const principalOf = (tx: object): Principal | undefined => asked.get(tx)?.principal

/** Whether the transaction answers a dry run, and is rolled back. */
export const isDryRunOf = (tx: object): boolean => asked.get(tx)?.isDryRun ?? false

/** Somebody who may know no more of the payer than that it pays. */
export const isInProject = ({ accountId, payerId }: Principal): boolean => accountId !== payerId

/** Whose share of what an account may have at a time: projects have one together, so that none of their members leaves the payer without. */
export const shareOf = ({ accountId, payerId }: Pick<Principal, 'accountId' | 'payerId'>): string =>
  accountId === payerId ? accountId : `projects of ${payerId}`

export type Authenticate = (request: FastifyRequest) => Promise<Principal>

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal
    /** For long-lived streams: whether the request would still be admitted. */
    isStillAuthorized(): Promise<boolean>
  }
  interface FastifyContextConfig {
    operationId?: string
    /** The documented path within the API. */
    route?: string
    scope?: string | null
    /** Concerns the signed-in user alone, in whatever account. */
    isPersonal?: boolean
    isOfPayer?: boolean
    requiresReauth?: boolean
    answersSecret?: boolean
    duringVisit?: boolean
    givesLogin?: boolean
    /** Sent with every response of the operation. */
    headers?: Record<string, string>
    /** For a write: whether it supports dry runs. */
    offersDryRun?: boolean
  }
}
