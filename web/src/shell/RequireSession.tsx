// Renders the shell with a session; without one, redirects to sign-in and back.
import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, type ReactNode } from 'react'
import { sessionHasEnded, sessionQuery, type Session } from '../api/session.ts'
import { Redirect } from '../ui/Redirect.tsx'
import { Loaded, Loading } from '../ui/AsyncState.tsx'
import { Reauthenticate } from './Reauthenticate.tsx'
import { Shell } from './Shell.tsx'

const Blocked = lazy(() => import('./Blocked.tsx'))

const isBlocked = ({ account, user }: Session): boolean => account === null || (account.requireTwoFactor && !user.totpEnabled)

export const RequireSession = () => <Gate>{(session) => <Shell session={session} />}</Gate>

/** For windows that show one thing only. */
export const RequireSessionBare = () => (
  <Gate>
    {(session) => (
      <>
        <Outlet />
        <Reauthenticate totpEnabled={session.user.totpEnabled} />
      </>
    )}
  </Gate>
)

function Gate({ children }: { children: (session: Session) => ReactNode }) {
  const session = useQuery(sessionQuery)
  const { href } = useLocation()
  if (session.data && isBlocked(session.data)) {
    return (
      <Suspense fallback={<Loading />}>
        <Blocked session={session.data} />
      </Suspense>
    )
  }
  if (session.data) return children(session.data)
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
