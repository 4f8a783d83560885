import { lazy, Suspense, useEffect, useState } from 'react'
import { formatAgo, formatDate, formatDateTime, formatUtc } from './format.ts'
import { useIdle } from './idle.ts'

const Tooltip = lazy(() => import('./later/tooltip.ts'))

/** In the browser's time zone; UTC on hover. A relative time tells both on hover and on focus. */
export function Time({ at, as = 'moment' }: { at: string; as?: 'moment' | 'date' | 'ago' }) {
  if (as === 'ago') return <Ago at={at} />
  return (
    <time dateTime={at} title={formatUtc(at)} className="numbers">
      {as === 'date' ? formatDate(at) : formatDateTime(at)}
    </time>
  )
}

function Ago({ at }: { at: string }) {
  const now = useNow(30_000)
  const isIdle = useIdle()
  const time = (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard reaches its tooltip
    <time dateTime={at} className="numbers" tabIndex={0}>
      {formatAgo(at, now)}
    </time>
  )
  if (!isIdle) return time
  return (
    <Suspense fallback={time}>
      <Tooltip label={`${formatDateTime(at)} · ${formatUtc(at)}`} events={{ hover: true, focus: true, touch: true }} multiline>
        {time}
      </Tooltip>
    </Suspense>
  )
}

/** The current time, updated at the interval; null stops the updates. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (everyMs === null) return
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
