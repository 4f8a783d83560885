// Rules are edited as a draft, which nothing knows of until it is applied as a whole. It survives leaving the page, in this tab.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { appliedRulesQuery } from '../../queries/network.ts'
import { diffRules, type Change } from './diff.ts'
import { fromApi, type Rule } from './rule.ts'

interface Stored {
  /** The version of the rules that it began with, and those. */
  basedOn: string
  before: Rule[]
  rules: Rule[]
}

export interface Draft extends Stored {
  changes: Change[]
  /** The rules were changed by somebody else since. */
  isOutdated: boolean
  set: (rules: Rule[]) => void
  discard: () => void
}

const keyOf = (firewallId: string): string => `firewall-draft.${firewallId}`

function load(firewallId: string): Stored | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(firewallId)) ?? 'null') as Stored | null
  } catch {
    return null
  }
}

function store(firewallId: string, draft: Stored | null): void {
  try {
    if (draft) sessionStorage.setItem(keyOf(firewallId), JSON.stringify(draft))
    else sessionStorage.removeItem(keyOf(firewallId))
  } catch {
    // Storage is full or forbidden: the draft lives as long as the page.
  }
}

/** `draft` is there when the rules are. */
export function useDraft(firewallId: string) {
  const query = useQuery(appliedRulesQuery(firewallId))
  const [stored, setStored] = useState(() => load(firewallId))
  const keep = (next: Stored | null): void => {
    store(firewallId, next)
    setStored(next)
  }
  const applied = query.data
  if (!applied) return { query, draft: null }
  const current = stored ?? { basedOn: applied.version, before: applied.rules.map(fromApi), rules: applied.rules.map(fromApi) }
  const draft: Draft = {
    ...current,
    changes: diffRules(current.before, current.rules),
    isOutdated: stored !== null && applied.version !== stored.basedOn,
    set: (rules) => keep(diffRules(current.before, rules).length === 0 ? null : { ...current, rules }),
    discard: () => keep(null),
  }
  return { query, draft }
}
