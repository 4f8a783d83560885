// The states of a query: loading, empty, failed.
import { Button, Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { isNotFound, errorMessage } from '../api/errors.ts'
import { commonMessages as w } from '../words/words.ts'
import { RequestReference } from './Form.tsx'
import { Icon, type IconName } from './Icon.tsx'
import css from './async-state.module.css'

export const Loading = ({ lines = 5 }: { lines?: number }) => (
  <output className={css['loading']} aria-label={w.loading}>
    {Array.from({ length: lines }, (_, line) => (
      <Skeleton key={line} height={14} width={`${92 - ((line * 17) % 40)}%`} radius={6} />
    ))}
  </output>
)

interface EmptyProps {
  /** Heading level: 1 if this is the whole page. */
  level?: 1 | 2
  icon: IconName
  title: string
  about: ReactNode
  action?: ReactNode
}

export const Empty = ({ level = 2, icon, title, about, action }: EmptyProps) => (
  <div className={css['empty']}>
    <span className={css['badge']}>
      <Icon name={icon} size={22} />
    </span>
    <Title level={level}>{title}</Title>
    <p className={css['about']}>{about}</p>
    {action}
  </div>
)

const Title = ({ level, children }: { level: 1 | 2; children: string }) =>
  level === 1 ? <h1 className={css['title']}>{children}</h1> : <h2 className={css['title']}>{children}</h2>

export const LoadError = ({ error, retry, level = 2 }: { error: unknown; retry?: () => unknown; level?: 1 | 2 }) => {
  const missing = isNotFound(error)
  return (
    <div className={css['empty']} role="alert">
      <span className={css['badge']} data-failed>
        <Icon name="warning" size={22} />
      </span>
      <Title level={level}>{missing ? w.notFoundTitle : w.loadFailed}</Title>
      <div className={css['about']}>
        {missing ? w.notFound : errorMessage(error)}
        <RequestReference error={error} />
      </div>
      {retry && !missing && (
        <Button variant="default" onClick={() => void retry()}>
          {w.retry}
        </Button>
      )}
    </div>
  )
}

interface LoadedProps<T> {
  of: Pick<UseQueryResult<T>, 'data' | 'error' | 'errorUpdatedAt'> & { refetch: () => unknown }
  lines?: number
  /** Renders errors with a level 1 heading, because nothing else is on the page. */
  isPage?: boolean
  children: (data: T) => ReactNode
}

/** Keeps showing loaded data while a refetch fails, because the shell already shows the connection state. Deleted resources are not kept. */
export function Loaded<T>({ of, lines, isPage = false, children }: LoadedProps<T>) {
  const error = useLastError(of)
  if (of.data !== undefined && !isNotFound(error)) return <>{children(of.data)}</>
  if (error) return <LoadError error={error} retry={() => of.refetch()} level={isPage ? 1 : 2} />
  return <Loading lines={lines} />
}

/** A query without data forgets its error when it is fetched again. Polled, it would show the skeleton most of the time while the server is down. */
function useLastError({ error, errorUpdatedAt }: Pick<UseQueryResult, 'error' | 'errorUpdatedAt'>): unknown {
  const [last, setLast] = useState<{ error: unknown; at: number }>({ error: null, at: 0 })
  if (error && last.at !== errorUpdatedAt) setLast({ error, at: errorUpdatedAt })
  return error ?? (last.at === errorUpdatedAt ? last.error : null)
}
