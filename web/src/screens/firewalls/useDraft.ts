// Rules are edited as a draft, which nothing knows of until it is applied as a whole. It survives leaving the page, in this tab.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { draftKey } from '../../api/drafts.ts'
import { sessionQuery } from '../../api/session.ts'
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

function load(key: string | null): Stored | null {
  try {
    return JSON.parse((key && sessionStorage.getItem(key)) ?? 'null') as Stored | null
  } catch {
    return null
  }
}

function store(key: string | null, draft: Stored | null): void {
  if (key === null) return
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft))
    else sessionStorage.removeItem(key)
  } catch {
    // Storage is full or forbidden: the draft lives as long as the page.
  }
}

/** `draft` is there when the rules are. */
export function useDraft(firewallId: string) {
  const query = useQuery(appliedRulesQuery(firewallId))
  const session = useQuery(sessionQuery).data
  const key = session ? draftKey(session, `firewall:${firewallId}`) : null
  const [stored, setStored] = useState(() => load(key))
  const keep = (next: Stored | null): void => {
    store(key, next)
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
