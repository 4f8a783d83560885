import { useEffect, useState } from 'react'
import { formatAgo, formatDate, formatDateTime, formatUtc } from './format.ts'

/** In the browser's time zone; UTC on hover. */
export function Time({ at, as = 'moment' }: { at: string; as?: 'moment' | 'date' | 'ago' }) {
  const now = useNow(as === 'ago' ? 30_000 : null)
  const text = as === 'date' ? formatDate(at) : as === 'ago' ? formatAgo(at, now) : formatDateTime(at)
  return (
    <time dateTime={at} title={formatUtc(at)} className="numbers">
      {text}
    </time>
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
