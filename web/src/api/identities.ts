// The way to an identity provider and back. Why somebody went is remembered in this tab; the server has bound it to the browser on its own.
import { queryOptions } from '@tanstack/react-query'
import { nextPath } from '../shell/next-path.ts'
import { apiRequest } from './request.ts'

export interface OfferedProvider {
  name: string
  title: string
}

export interface Identity {
  id: string
  provider: OfferedProvider
  label: string
  createdAt: string
  lastUsedAt: string
}

export interface Identities {
  identities: Identity[]
  hasPassword: boolean
  canLink: OfferedProvider[]
}

export const identitiesQuery = queryOptions({ queryKey: ['identities'], queryFn: () => apiRequest<Identities>('GET', '/identities') })

export interface Errand {
  purpose: 'signIn' | 'link' | 'reauthenticate'
  provider: string
  /** The path to go on to. */
  next: string
  invitation?: { token: string; accountId: string }
}

const KEY = 'berth:errand'
const BEGIN = { signIn: '/sign-in/with', link: '/identities/begin', reauthenticate: '/reauthenticate/with' } as const
const COMPLETE = { signIn: '/sign-in/with/complete', link: '/identities', reauthenticate: '/reauthenticate/with/complete' } as const

/** `totp`: for reauthentication by who has a second factor. */
export async function goToProvider(errand: Errand, totp?: string): Promise<void> {
  const { url } = await apiRequest<{ url: string }>('POST', BEGIN[errand.purpose], { provider: errand.provider, ...(totp && { totp }) })
  sessionStorage.setItem(KEY, JSON.stringify(errand))
  location.assign(url)
}

const RETURN = /^\/sign-in\/with\/([a-z0-9-]+)$/

/** Read before the router makes its own of the address. The code in it is removed from the address bar and the history. */
let returned: { errand: Errand; response: string } | null = null
const [, provider] = RETURN.exec(location.pathname) ?? []
if (provider && location.search !== '') {
  const errand = readErrand()
  sessionStorage.removeItem(KEY)
  returned = {
    errand: errand?.provider === provider ? errand : { purpose: 'signIn', provider, next: '/' },
    response: location.search.slice(1),
  }
  history.replaceState(history.state, '', location.pathname)
}

/** Null for who did not come back from a provider. */
export const findReturn = (): { errand: Errand; response: string } | null => returned

function readErrand(): Errand | null {
  const stored = sessionStorage.getItem(KEY)
  if (stored === null) return null
  const errand = JSON.parse(stored) as Errand
  return { ...errand, next: nextPath(errand.next, location.origin) ?? '/' }
}

export const completeErrand = <T>({ purpose, provider: name, invitation }: Errand, response: string): Promise<T> =>
  apiRequest<T>('POST', COMPLETE[purpose], {
    provider: name,
    response,
    ...(purpose === 'signIn' && invitation && { invitation: invitation.token }),
  })
