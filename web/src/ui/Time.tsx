import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { formatAgo, formatDate, formatDateTime, formatUtc } from './format.ts'

/** In the browser's time zone; UTC on hover. A relative time tells both on hover and on focus. */
export function Time({ at, as = 'moment' }: { at: string; as?: 'moment' | 'date' | 'ago' }) {
  const now = useNow(as === 'ago' ? 30_000 : null)
  if (as === 'ago')
    return (
      <Tooltip label={`${formatDateTime(at)} · ${formatUtc(at)}`} events={{ hover: true, focus: true, touch: true }} multiline>
        <time dateTime={at} className="numbers" tabIndex={0}>
          {formatAgo(at, now)}
        </time>
      </Tooltip>
    )
  return (
    <time dateTime={at} title={formatUtc(at)} className="numbers">
      {as === 'date' ? formatDate(at) : formatDateTime(at)}
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
