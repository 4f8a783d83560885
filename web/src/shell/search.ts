// What the search of the top bar finds: screens and pages of the documentation by their names, and what the API answers.
import type { SearchResult } from '@berth/sdk'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { berth } from '../api/berth.ts'
import { docsQuery } from '../queries/docs.ts'
import { accountsQuery, hostsQuery, operatorVmsQuery } from '../api/operator.ts'
import type { Session } from '../api/session.ts'
import { shellMessages } from '../words/words.ts'
import type { IconName } from '../ui/Icon.tsx'
import { visibleGroups } from './navigation.ts'

const w = shellMessages.search
const MOST_OF_OPERATOR = 5
const MOST_OF_DOCS = 5

export interface Found {
  key: string
  name: string
  detail: string | null
  kind: string
  icon: IconName
  to: string
  /** Of a page with tabs. */
  tab?: string
  /** No screen: the page is left. */
  isOutside?: true
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
  project: () => ({ icon: 'folder', to: '/projects' }),
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
  const docs = useQuery(docsQuery).data ?? []
  const has = (name: string): boolean => name.toLowerCase().includes(text.toLowerCase())
  const groups = [...visibleGroups(session, 'customer'), ...visibleGroups(session, 'operator')]
  const screens = groups.flatMap(({ items }) =>
    items
      .filter(({ label }) => has(label))
      .map(({ to, label, icon }): Found => ({ key: to, name: label, detail: null, kind: w.screen, icon, to })),
  )
  const pages = docs
    .filter(({ title }) => text !== '' && has(title))
    .slice(0, MOST_OF_DOCS)
    .map(({ title, path, section }): Found => ({
      key: path,
      name: title,
      detail: section,
      kind: w.guide,
      icon: 'book',
      to: path,
      isOutside: true,
    }))
  const mine = text === '' ? [] : (own.data ?? [])
  const ofOthers = text === '' ? [] : operator.found.filter(({ key }) => !mine.some(({ kind, id }) => kind === 'vm' && key === keyOfVm(id)))
  return {
    found: [...screens, ...mine.map(toFound), ...ofOthers, ...pages],
    /** How many of the first follow the text already. */
    known: screens.length,
    isBusy: text !== settled || own.isFetching || operator.isFetching,
    error: own.error,
  }
}

const keyOfVm = (id: string): string => `vm of account ${id}`

/** Those of all accounts. */
function useOperatorSearch(isOperator: boolean, q: string): { found: Found[]; isFetching: boolean } {
  const enabled = isOperator && q !== ''
  const query = { q, limit: MOST_OF_OPERATOR }
  const { data: hosts = [] } = useQuery({ ...hostsQuery, enabled })
  const { data: accounts, isFetching: looksForAccounts } = useQuery({ ...accountsQuery(query), enabled, refetchInterval: false })
  const { data: vms, isFetching: looksForVms } = useQuery({ ...operatorVmsQuery(query), enabled, refetchInterval: false })
  if (!enabled) return { found: [], isFetching: false }
  const isSought = ({ name, id }: { name: string; id: string }): boolean => id === q || name.toLowerCase().includes(q.toLowerCase())
  const found = [
    ...hosts.filter(isSought).map(({ id, name, region }): Found => ({
      key: `host ${id}`,
      name,
      detail: region,
      kind: w.host,
      icon: 'server',
      to: '/operator/hosts',
    })),
    ...(accounts?.items ?? []).map(({ id, email, name }): Found => ({
      key: `account ${id}`,
      name: email,
      detail: name,
      kind: w.account,
      icon: 'users',
      to: `/operator/accounts/${id}`,
    })),
    ...(vms?.items ?? []).map(({ id, name, email, accountId }): Found => ({
      key: keyOfVm(id),
      name,
      detail: email,
      kind: w.vmOfAccount,
      icon: 'server',
      to: `/operator/accounts/${accountId}`,
    })),
  ]
  return { found, isFetching: looksForAccounts || looksForVms }
}
