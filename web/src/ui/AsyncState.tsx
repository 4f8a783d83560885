// The states of a query: loading, empty, failed.
import { Button, Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '@berth/sdk'
import { isNotFound, errorMessage } from '../api/errors.ts'
import { commonMessages as w } from '../messages/common.ts'
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
  const requestId = error instanceof ApiError && error.status >= 500 ? error.requestId : null
  return (
    <div className={css['empty']} role="alert">
      <span className={css['badge']} data-failed>
        <Icon name="warning" size={22} />
      </span>
      <Title level={level}>{missing ? w.notFoundTitle : w.loadFailed}</Title>
      <p className={css['about']}>
        {missing ? w.notFound : errorMessage(error)} {requestId && w.requestReference(requestId)}
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
  /** Renders errors with a level 1 heading, because nothing else is on the page. */
  isPage?: boolean
  children: (data: T) => ReactNode
}

/** Keeps showing loaded data while a refetch fails, because the shell already shows the connection state. Deleted resources are not kept. */
export function Loaded<T>({ of, lines, isPage = false, children }: LoadedProps<T>) {
  if (of.data !== undefined && !isNotFound(of.error)) return <>{children(of.data)}</>
  if (of.isError) return <LoadError error={of.error} retry={() => of.refetch()} level={isPage ? 1 : 2} />
  return <Loading lines={lines} />
}
