// Which announcements were dismissed in this browser.
import { useSyncExternalStore } from 'react'
import { idsIn, readIds, storedText, storeIds } from './stored-ids.ts'

const KEY = 'berth:dismissed'
const listeners = new Set<() => void>()

function store(ids: string[]): void {
  storeIds(KEY, ids)
  for (const listener of listeners) listener()
}

const without = (id: string): string[] => readIds(KEY).filter((each) => each !== id)

export const dismiss = (id: string): void => store([...without(id), id])

/** It is shown again. */
export const restore = (id: string): void => store(without(id))

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useDismissed = (): string[] => idsIn(useSyncExternalStore(subscribe, () => storedText(KEY)))
