// Who is asking. The mount decides how that is found out (API token, dashboard session); everything behind it sees only this.
import type { FastifyRequest } from 'fastify'

/** Somebody at a browser, who has proved to be it some time ago. */
export interface SessionContext {
  sessionId: string
  isOperator: boolean
  /** When the password was last given. */
  authenticatedAt: Date
}

export interface Principal {
  accountId: string
  actorType: 'token' | 'person'
  /** The token or the person, for logs and audit. */
  actorId: string
  actorName: string
  scopes: ReadonlySet<string>
  requestsPerMinute: number
  /** Null for a token. */
  signedIn: SessionContext | null
}

export type Authenticate = (request: FastifyRequest) => Promise<Principal>

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal
    /** For what goes on after it was admitted: whether it would be again. */
    isStillAuthorized(): Promise<boolean>
  }
  interface FastifyContextConfig {
    operationId?: string
    /** The path within the API, as it is documented. */
    route?: string
    scope?: string | null
    requiresReauth?: boolean
    /** Of a write: whether it can be rehearsed. */
    offersDryRun?: boolean
  }
}
