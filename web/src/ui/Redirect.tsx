import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Redirects once: re-renders before the target is mounted must not navigate again, or the redirect never ends. */
export function Redirect({ to }: { to: string }) {
  const { history } = useRouter()
  const first = useRef(to)
  useEffect(() => {
    history.replace(first.current)
  }, [history])
  return null
}
