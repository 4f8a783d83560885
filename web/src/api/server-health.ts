// Whether the server answers the queries of the current screen.
import type { QueryCache } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { isServerDown } from './errors.ts'

/** Queries whose last answer was a failure of the server. */
const failing = new WeakSet<object>()

export function recordAnswer(query: object, error: unknown): void {
  if (isServerDown(error)) failing.add(query)
  else failing.delete(query)
}

/** True from the first failure of a query on this screen until the query succeeds. */
export const useServerFailing = (cache: QueryCache): boolean =>
  useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () => cache.getAll().some((query) => failing.has(query) && query.isActive()),
  )
