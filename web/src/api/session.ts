import { queryOptions, useQuery } from '@tanstack/react-query'
import { hasCode } from './errors.ts'
import { apiRequest } from './request.ts'

export interface Session {
  user: { id: string; email: string; name: string; isOperator: boolean; totpEnabled: boolean }
  account: { id: string; name: string }
  settings: { signUpOpen: boolean; depositsOpen: boolean; currency: string; version: string }
  reauthenticatedAt: string
  expiresAt: string
}

export interface Setup {
  signUpOpen: boolean
  hasOwner: boolean
  canSendMail: boolean
}

export interface SignInResult {
  totpRequired?: boolean
}

let sessionUserId: string | undefined

/** Set while somebody is signed in in this tab, so that a session that ended is told apart from a first visit. */
const SIGNED_IN = 'berth:signed-in'

export const sessionHasEnded = (): boolean => sessionStorage.getItem(SIGNED_IN) !== null
export const forgetSession = (): void => sessionStorage.removeItem(SIGNED_IN)

/** Another user signed in in another tab: reload, so that nothing of the previous user remains in memory. */
function reloadOnUserChange(session: Session): Session {
  if (sessionUserId !== undefined && sessionUserId !== session.user.id) location.assign('/')
  sessionUserId = session.user.id
  sessionStorage.setItem(SIGNED_IN, 'yes')
  return session
}

/** Null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () =>
    apiRequest<Session>('GET', '/session').then(reloadOnUserChange, (error: unknown) => {
      if (hasCode(error, 'unauthorized')) return null
      throw error
    }),
  staleTime: 60_000,
  refetchOnWindowFocus: 'always',
  refetchInterval: ({ state }) => (state.data === undefined ? 5_000 : false),
})

export const setupQuery = queryOptions({ queryKey: ['setup'], queryFn: () => apiRequest<Setup>('GET', '/setup'), staleTime: 60_000 })

export interface SessionEntry {
  id: string
  isCurrent: boolean
  ip: string
  userAgent: string
  createdAt: string
  lastSeenAt: string
  expiresAt: string
}

export const sessionsQuery = queryOptions({ queryKey: ['sessions'], queryFn: () => apiRequest<SessionEntry[]>('GET', '/sessions') })

export interface Totp {
  enabled: boolean
  recoveryCodesLeft: number
}

export const totpQuery = queryOptions({ queryKey: ['totp'], queryFn: () => apiRequest<Totp>('GET', '/totp') })

export interface RecoveryCodes {
  recoveryCodes: string[]
}

export interface TotpSetup {
  secret: string
  uri: string
}

export const useCurrency = (): string => useQuery(sessionQuery).data?.settings.currency ?? 'USD'
