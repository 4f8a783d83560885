// One console, connected again by itself where that makes sense. Links are single-use, so each connection asks for a new one.
import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { errorMessage, hasCode } from '../../api/errors.ts'
import { withReauthentication } from '../../api/reauthenticate.ts'
import { vmMessages } from '../../words/words.ts'
import { causeOf, delayOf, reconnects, type CloseCause } from './console-link.ts'

export type ConsoleKind = 'serial' | 'vnc'

export type ConsoleState =
  | { is: 'idle' }
  | { is: 'opening' }
  | { is: 'connecting' | 'connected'; url: string }
  | { is: 'waiting'; why: string; at: number; attempt: number }
  | { is: 'ended'; why: string }

const w = vmMessages.console

/** The same server by the name of this page: without BERTH_PUBLIC_URL a link has the server's address, which the page may not connect to. */
const onThisPage = (link: string): string => `${location.origin.replace(/^http/, 'ws')}${new URL(link).pathname}`

/** One that stays connected for less begins no new count of attempts: it may be closed over and over. */
const STABLE_MS = 5_000

export function useConsole(vmId: string, kind: ConsoleKind) {
  const [state, setState] = useState<ConsoleState>({ is: 'idle' })
  const [attempt, setAttempt] = useState(0)
  const [connectedAt, setConnectedAt] = useState(0)

  const retry = useCallback((why: string, next: number): void => {
    const delay = delayOf(next)
    setAttempt(next + 1)
    setState(delay === null ? { is: 'ended', why } : { is: 'waiting', why, at: Date.now() + delay * 1_000, attempt: next + 1 })
  }, [])

  const open = useCallback(
    async (tries: number): Promise<void> => {
      setState({ is: 'opening' })
      try {
        const { url } = await withReauthentication(() => berth.vms.openConsole(vmId, kind))
        setState({ is: 'connecting', url: onThisPage(url) })
      } catch (error) {
        const isWorthIt = tries > 0 && !hasCode(error, 'not_found', 'missing_scope', 'unauthorized', 'protected')
        if (isWorthIt) retry(errorMessage(error), tries)
        else setState({ is: 'ended', why: errorMessage(error) })
      }
    },
    [vmId, kind, retry],
  )

  const reopen = useEffectEvent(() => void open(attempt))
  const due = state.is === 'waiting' ? state.at : null
  useEffect(() => {
    if (due === null) return
    const timer = setTimeout(reopen, Math.max(0, due - Date.now()))
    return () => clearTimeout(timer)
  }, [due])

  return {
    state,
    connect: () => {
      setAttempt(0)
      void open(0)
    },
    connectNow: () => void open(attempt),
    close: () => setState({ is: 'ended', why: w.closed }),
    reset: () => setState({ is: 'idle' }),
    onConnected: () => {
      setConnectedAt(Date.now())
      setState((now) => (now.is === 'connecting' ? { is: 'connected', url: now.url } : now))
    },
    onClosed: (code: number, reason: string) => {
      const cause = causeOf(code)
      const why = textOf(cause, reason)
      if (reconnects(cause)) retry(why, connectedAt > 0 && Date.now() - connectedAt > STABLE_MS ? 0 : attempt)
      else setState({ is: 'ended', why })
      setConnectedAt(0)
    },
  }
}

const textOf = (cause: CloseCause, reason: string): string => (cause === 'lost' && reason ? w.closedWith(reason) : w.causes[cause])
