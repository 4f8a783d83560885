import { useState } from 'react'

export interface Selection {
  ids: ReadonlySet<string>
  choose: (ids: readonly string[], on: boolean) => void
  clear: () => void
}

export const withChosen = (before: ReadonlySet<string>, ids: readonly string[], on: boolean): ReadonlySet<string> => {
  const after = new Set(before)
  for (const id of ids) {
    if (on) after.add(id)
    else after.delete(id)
  }
  return after
}

/** Of those that are shown. */
export function isChosen({ ids: chosen }: Pick<Selection, 'ids'>, ids: readonly string[]): 'all' | 'some' | 'none' {
  const count = ids.filter((id) => chosen.has(id)).length
  if (count === 0) return 'none'
  return count === ids.length ? 'all' : 'some'
}

const NOTHING: ReadonlySet<string> = new Set()

/** It ends when `of`, what the list is filtered by, changes. */
export function useSelection(of: string): Selection {
  const [state, setState] = useState({ of, ids: NOTHING })
  const ids = state.of === of ? state.ids : NOTHING
  return {
    ids,
    choose: (some, on) => setState((before) => ({ of, ids: withChosen(before.of === of ? before.ids : NOTHING, some, on) })),
    clear: () => setState({ of, ids: NOTHING }),
  }
}
