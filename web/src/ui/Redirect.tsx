import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Goes there once. What is drawn again until the page there has come must not go again: that would never end. */
export function Redirect({ to }: { to: string }) {
  const { history } = useRouter()
  const first = useRef(to)
  useEffect(() => history.replace(first.current), [history])
  return null
}
