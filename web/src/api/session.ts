import type { Member } from '@berth/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { chooseAccount } from './account.ts'
import { hasCode } from './errors.ts'
import type { OfferedProvider } from './identities.ts'
import { apiRequest } from './request.ts'

export type Role = Member['role']

export interface Session {
  user: { id: string; email: string; name: string; isOperator: boolean; totpEnabled: boolean }
  /** The one that this tab works in; null for a member of none. */
  account: {
    id: string
    name: string
    role: Role
    scopes: string[]
    requireTwoFactor: boolean
    isProject: boolean
    budget: Member['budget']
  } | null
  accounts: { id: string; name: string; role: Role; isProject: boolean }[]
  /** Of an operator who has signed in as a customer. */
  visit: { accountId: string; email: string; reason: string; canWrite: boolean; homeId: string; endsAt: string } | null
  settings: { signUpOpen: boolean; depositsOpen: boolean; currency: string; version: string }
  reauthenticatedAt: string
  expiresAt: string
}

export interface Setup {
  signUpOpen: boolean
  hasOwner: boolean
  canSendMail: boolean
  identityProviders: OfferedProvider[]
}

export interface SignInResult {
  totpRequired?: boolean
}

let sessionUserId: string | undefined
let sessionAccountId: string | null | undefined

/** Set while somebody is signed in in this tab, so that a session that ended is told apart from a first visit. */
const SIGNED_IN = 'berth:signed-in'

export const sessionHasEnded = (): boolean => sessionStorage.getItem(SIGNED_IN) !== null
export const forgetSession = (): void => sessionStorage.removeItem(SIGNED_IN)

/** Another user signed in in another tab, or this one was removed from the account: reload, so that nothing of before remains in memory. */
function reloadOnChange(session: Session): Session {
  const accountId = session.account?.id ?? null
  const isOther = sessionUserId !== session.user.id || sessionAccountId !== accountId
  if (sessionUserId !== undefined && isOther) location.assign('/')
  sessionUserId = session.user.id
  sessionAccountId = accountId
  sessionStorage.setItem(SIGNED_IN, 'yes')
  return session
}

/** Chooses an account where none of the user's is chosen. */
async function readSession(): Promise<Session> {
  const session = await apiRequest<Session>('GET', '/session')
  const [first] = session.accounts
  if (session.account || !first) return session
  chooseAccount(first.id)
  return apiRequest<Session>('GET', '/session')
}

/** Null without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () =>
    readSession().then(reloadOnChange, (error: unknown) => {
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

/** Money and limits of a project are those of the account that pays for it. */
export const useIsProject = (): boolean => useQuery(sessionQuery).data?.account?.isProject ?? false

export const useCurrency = (): string => useQuery(sessionQuery).data?.settings.currency ?? 'USD'
