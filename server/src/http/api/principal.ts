// The authenticated caller. The mount decides how to authenticate (API token, dashboard session); everything behind it sees only this.
import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../../kernel/errors.ts'

/** A signed-in user with the time of the last password entry. */
export interface SessionContext {
  sessionId: string
  isOperator: boolean
  /** Of all accounts in which the user may act. */
  accountIds: string[]
  /** Why the user can do nothing in the account of this request. */
  refusal: ApiError | null
  /** When the password was last entered. */
  authenticatedAt: Date
}

export interface Principal {
  /** Empty for a user who named none of several accounts: whatever is not personal is refused then. */
  accountId: string
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

/** Of transactions that answer a request. */
const principals = new WeakMap<object, Principal>()

export const bindPrincipal = (tx: object, principal: Principal): void => void principals.set(tx, principal)

/** Whose request the transaction answers; undefined for work that nobody asked for by a request. */
export const principalOf = (tx: object): Principal | undefined => principals.get(tx)

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
    requiresReauth?: boolean
    /** Sent with every response of the operation. */
    headers?: Record<string, string>
    /** For a write: whether it supports dry runs. */
    offersDryRun?: boolean
  }
}
