// What a group of costs is called, and which transactions are in it.
import type { Costs } from '@berth/sdk'
import type { ListSearch } from '../../ui/paging.ts'
import { walletMessages } from '../../words/words.ts'
import { daysOf } from './months.ts'

const w = walletMessages.costs

export type CostGroup = Costs['groups'][number]

const LABEL = 'label:'
export const labelOf = (by: string): string | null => (by.startsWith(LABEL) ? by.slice(LABEL.length) : null)
export const byLabel = (key: string): string => `${LABEL}${key}`

/** Nothing else is asked for, whatever is in the URL. */
export const groupingOf = (text: string | undefined): string =>
  text !== undefined && /^(resource|type|project|label:[A-Za-z0-9][A-Za-z0-9._/-]{0,62})$/.test(text) ? text : 'resource'

export function nameOfGroup({ key, name, deleted }: CostGroup, by: string): string {
  const label = labelOf(by)
  if (label !== null) return key === null ? w.withoutLabel(label) : key === '' ? label : `${label}=${key}`
  if (by === 'type') return (walletMessages.types as Record<string, string>)[key ?? ''] ?? key ?? ''
  if (by === 'project') return name ?? (key === null ? w.ownAccount : key)
  if (name === null) return w.deleted(key ?? '')
  return deleted ? w.deleted(name) : name
}

/** The filters of the list of transactions: what they add up to is the amount of the group. */
export function searchOfGroup({ key }: Pick<CostGroup, 'key'>, by: string, month: string): ListSearch {
  const of: ListSearch = { tab: 'transactions', kind: 'COST', ...daysOf(month) }
  const label = labelOf(by)
  if (label !== null) return { ...of, labels: key === null ? `!${label}` : `${label}=${key}` }
  if (by === 'type') return { ...of, type: key ?? undefined } as ListSearch
  if (by === 'project') return { ...of, projectId: key ?? 'none' }
  return { ...of, referenceId: key ?? undefined } as ListSearch
}

/** In percent of all that costs something; 0 of what was given back. */
export function shareOf(amount: string, all: readonly { amount: string }[]): number {
  const cents = (text: string): number => Math.max(0, Math.round(Number(text) * 100))
  const total = all.reduce((sum, each) => sum + cents(each.amount), 0)
  return total === 0 ? 0 : (cents(amount) / total) * 100
}
