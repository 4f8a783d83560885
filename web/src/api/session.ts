import { queryOptions } from '@tanstack/react-query'
import { isCode } from './errors.ts'
import { ask } from './request.ts'

export interface Session {
  user: { id: string; email: string; name: string; isOperator: boolean; totpEnabled: boolean }
  account: { id: string; name: string }
  settings: { signUpOpen: boolean; currency: string; version: string }
  reauthenticatedAt: string
  expiresAt: string
}

export interface Setup {
  signUpOpen: boolean
  hasOwner: boolean
  canSendMail: boolean
}

export interface SignInAnswer {
  totpRequired?: boolean
}

let owner: string | undefined

/** When another person has signed in, in another tab, this one begins anew: nothing of the first is left in memory. */
function ofOnePerson(session: Session): Session {
  if (owner !== undefined && owner !== session.user.id) location.assign('/')
  owner = session.user.id
  return session
}

/** Null for a visitor who has not signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () =>
    ask<Session>('GET', '/session').then(ofOnePerson, (error: unknown) => {
      if (isCode(error, 'unauthorized')) return null
      throw error
    }),
  staleTime: 60_000,
  refetchOnWindowFocus: 'always',
})

export const setupQuery = queryOptions({ queryKey: ['setup'], queryFn: () => ask<Setup>('GET', '/setup'), staleTime: 60_000 })

export interface SessionEntry {
  id: string
  isCurrent: boolean
  ip: string
  userAgent: string
  createdAt: string
  lastSeenAt: string
  expiresAt: string
}

export const sessionsQuery = queryOptions({ queryKey: ['sessions'], queryFn: () => ask<SessionEntry[]>('GET', '/sessions') })

export interface Totp {
  enabled: boolean
  recoveryCodesLeft: number
}

export const totpQuery = queryOptions({ queryKey: ['totp'], queryFn: () => ask<Totp>('GET', '/totp') })

export interface RecoveryCodes {
  recoveryCodes: string[]
}

export interface TotpSetup {
  secret: string
  uri: string
}
