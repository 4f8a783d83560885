// What the search of the top bar finds: screens by their names, and what the API answers.
import type { SearchResult } from '@berth/sdk'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { berth } from '../api/berth.ts'
import { accountsQuery, hostsQuery, operatorVmsQuery } from '../api/operator.ts'
import type { Session } from '../api/session.ts'
import { shellMessages } from '../words/words.ts'
import type { IconName } from '../ui/Icon.tsx'
import { visibleGroups } from './navigation.ts'

const w = shellMessages.search
const MOST_OF_OPERATOR = 5

export interface Found {
  key: string
  name: string
  detail: string | null
  kind: string
  icon: IconName
  to: string
  /** Of a page with tabs. */
  tab?: string
}

/** Where it is shown. */
const PLACES: Record<SearchResult['kind'], (found: SearchResult) => Pick<Found, 'icon' | 'to' | 'tab'>> = {
  vm: ({ id }) => ({ icon: 'server', to: `/vms/${id}` }),
  address: () => ({ icon: 'pin', to: '/addresses' }),
  network: ({ id }) => ({ icon: 'network', to: `/networks/${id}` }),
  firewall: ({ id }) => ({ icon: 'shield', to: `/firewalls/${id}` }),
  volume: () => ({ icon: 'disk', to: '/volumes' }),
  volume_snapshot: () => ({ icon: 'camera', to: '/volumes' }),
  snapshot: ({ vmId }) => ({ icon: 'camera', to: `/vms/${vmId}`, tab: 'copies' }),
  backup: ({ vmId }) => ({ icon: 'camera', to: `/vms/${vmId}`, tab: 'copies' }),
  image: () => ({ icon: 'box', to: '/images' }),
  ssh_key: () => ({ icon: 'key', to: '/ssh-keys' }),
  placement_group: () => ({ icon: 'layout', to: '/placement-groups' }),
  alert: () => ({ icon: 'warning', to: '/alerts' }),
  webhook: ({ id }) => ({ icon: 'webhook', to: `/webhooks/${id}` }),
  project: () => ({ icon: 'layout', to: '/projects' }),
  token: () => ({ icon: 'code', to: '/settings', tab: 'keys' }),
  action: ({ vmId }) => (vmId ? { icon: 'pulse', to: `/vms/${vmId}`, tab: 'activity' } : { icon: 'pulse', to: '/events' }),
}

const toFound = (result: SearchResult): Found => ({
  key: `${result.kind} ${result.id}`,
  name: result.name || (result.detail ?? result.id),
  detail: result.detail,
  kind: w.kinds[result.kind],
  ...PLACES[result.kind](result),
})

const searchQuery = (q: string) =>
  queryOptions({
    queryKey: ['search', q],
    queryFn: ({ signal }) => berth.search(q, {}, { signal }),
    placeholderData: keepPreviousData,
    enabled: q !== '',
  })

/** Screens are found at once, the rest by `settled`, which follows the text. */
export function useSearch(session: Session, text: string, settled: string) {
  const own = useQuery(searchQuery(settled))
  const operator = useOperatorSearch(session.user.isOperator, settled)
  const has = (name: string): boolean => name.toLowerCase().includes(text.toLowerCase())
  const screens = visibleGroups(session).flatMap(({ items }) =>
    items
      .filter(({ label }) => has(label))
      .map(({ to, label, icon }): Found => ({ key: to, name: label, detail: null, kind: w.screen, icon, to })),
  )
  const things = text === '' ? [] : [...(own.data ?? []).map(toFound), ...operator]
  return { found: [...screens, ...things], isBusy: own.isFetching || text !== settled, error: own.error }
}

/** Those of all accounts. */
function useOperatorSearch(isOperator: boolean, q: string): Found[] {
  const enabled = isOperator && q !== ''
  const query = { q, limit: MOST_OF_OPERATOR }
  const hosts = useQuery({ ...hostsQuery, enabled }).data ?? []
  const accounts = useQuery({ ...accountsQuery(query), enabled }).data?.items ?? []
  const vms = useQuery({ ...operatorVmsQuery(query), enabled }).data?.items ?? []
  if (!enabled) return []
  const isSought = ({ name, id }: { name: string; id: string }): boolean => id === q || name.toLowerCase().includes(q.toLowerCase())
  return [
    ...hosts.filter(isSought).map(({ id, name, region }): Found => ({
      key: `host ${id}`,
      name,
      detail: region,
      kind: w.host,
      icon: 'server',
      to: '/operator/hosts',
    })),
    ...accounts.map(({ id, email, name }): Found => ({
      key: `account ${id}`,
      name: email,
      detail: name,
      kind: w.account,
      icon: 'users',
      to: `/operator/accounts/${id}`,
    })),
    ...vms.map(({ id, name, email, accountId }): Found => ({
      key: `vm of account ${id}`,
      name,
      detail: email,
      kind: w.vmOfAccount,
      icon: 'server',
      to: `/operator/accounts/${accountId}`,
    })),
  ]
}
