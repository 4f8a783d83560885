// Renders the shell with a session; without one, redirects to sign-in and back.
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { sessionHasEnded, sessionQuery, type Session } from '../api/session.ts'
import { Redirect } from '../ui/Redirect.tsx'
import { Loaded, Loading } from '../ui/AsyncState.tsx'
import { Shell } from './Shell.tsx'

const Blocked = lazy(() => import('./Blocked.tsx'))

const isBlocked = ({ account, user }: Session): boolean => account === null || (account.requireTwoFactor && !user.totpEnabled)

export function RequireSession() {
  const session = useQuery(sessionQuery)
  const { href } = useLocation()
  if (session.data && isBlocked(session.data)) {
    return (
      <Suspense fallback={<Loading />}>
        <Blocked session={session.data} />
      </Suspense>
    )
  }
  if (session.data) return <Shell session={session.data} />
  if (session.data === null) return <Redirect to={signInUrl(href)} />
  return (
    <main>
      <Loaded isPage of={session}>
        {() => null}
      </Loaded>
    </main>
  )
}

function signInUrl(href: string): string {
  const search = new URLSearchParams({ ...(href !== '/' && { next: href }), ...(sessionHasEnded() && { ended: 'true' }) }).toString()
  return search ? `/sign-in?${search}` : '/sign-in'
}
