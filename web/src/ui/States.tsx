// The three faces of anything that is loaded: not yet, nothing, and not to be had.
import { Button, Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '@berth/sdk'
import { isMissing, sentenceOf } from '../api/errors.ts'
import { commonWords as w } from '../words/common.ts'
import { Icon, type IconName } from './Icon.tsx'
import css from './states.module.css'

export const Waiting = ({ lines = 5 }: { lines?: number }) => (
  <div className={css['waiting']} role="status" aria-label={w.loading}>
    {Array.from({ length: lines }, (_, line) => (
      <Skeleton key={line} height={14} width={`${92 - ((line * 17) % 40)}%`} radius={6} />
    ))}
  </div>
)

interface EmptyProps {
  icon: IconName
  title: string
  about: ReactNode
  action?: ReactNode
}

export const Empty = ({ icon, title, about, action }: EmptyProps) => (
  <div className={css['empty']}>
    <span className={css['badge']}>
      <Icon name={icon} size={22} />
    </span>
    <h3 className={css['title']}>{title}</h3>
    <p className={css['about']}>{about}</p>
    {action}
  </div>
)

export const Failed = ({ error, retry }: { error: unknown; retry?: () => unknown }) => {
  const missing = isMissing(error)
  const requestId = error instanceof ApiError && error.status >= 500 ? error.requestId : null
  return (
    <div className={css['empty']} role="alert">
      <span className={css['badge']} data-failed>
        <Icon name="warning" size={22} />
      </span>
      <h3 className={css['title']}>{missing ? w.notFoundTitle : w.failedTitle}</h3>
      <p className={css['about']}>
        {missing ? w.notFound : sentenceOf(error)} {requestId && w.quote(requestId)}
      </p>
      {retry && !missing && (
        <Button variant="default" onClick={() => void retry()}>
          {w.retry}
        </Button>
      )}
    </div>
  )
}

interface LoadedProps<T> {
  of: UseQueryResult<T>
  lines?: number
  children: (data: T) => ReactNode
}

/** What was loaded before stays on screen while a newer answer fails: the shell says that the server is away. */
export function Loaded<T>({ of, lines, children }: LoadedProps<T>) {
  if (of.data !== undefined) return <>{children(of.data)}</>
  if (of.isError) return <Failed error={of.error} retry={() => of.refetch()} />
  return <Waiting lines={lines} />
}
