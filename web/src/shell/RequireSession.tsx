// Renders the shell with a session; without one, redirects to sign-in and back.
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { sessionQuery } from '../api/session.ts'
import { Redirect } from '../ui/Redirect.tsx'
import { LoadError } from '../ui/AsyncState.tsx'
import { Shell } from './Shell.tsx'

export function RequireSession() {
  const session = useQuery(sessionQuery)
  const { href } = useLocation()
  if (session.data) return <Shell session={session.data} />
  if (session.data === null) return <Redirect to={href === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(href)}`} />
  return session.isError ? <LoadError level={1} error={session.error} retry={() => session.refetch()} /> : null
}
