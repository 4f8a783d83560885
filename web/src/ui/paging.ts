// List state lives in the URL, so that lists survive a reload, can be shared and work with the back button.
import { useNavigate, useSearch } from '@tanstack/react-router'

export interface ListSearch {
  page?: number
  limit?: number
  status?: string
  type?: string
  dateFrom?: string
  dateTo?: string
  action?: string
  tokenId?: string
  personId?: string
  tab?: string
  range?: string
  /** Of a console, of the map of networks, or of transactions. */
  kind?: string
  /** A backup of a VM. */
  vm?: string
  backup?: string
  image?: string
  /** A label selector. */
  labels?: string
  /** What a list is sorted by: a field, with a leading - for descending. */
  sort?: string
  /** Part of a name, or an address. */
  q?: string
  region?: string
  plan?: string
  /** All rows as one list that scrolls. */
  view?: string
  month?: string
  by?: string
  /** What transactions were for. */
  referenceId?: string
  projectId?: string
}

const NUMBERS = ['page', 'limit'] as const
const TEXTS = [
  'status',
  'type',
  'dateFrom',
  'dateTo',
  'action',
  'tokenId',
  'personId',
  'tab',
  'range',
  'vm',
  'backup',
  'image',
  'labels',
  'sort',
  'q',
  'region',
  'plan',
  'view',
  'month',
  'by',
  'kind',
  'referenceId',
  'projectId',
] as const

/** Parses the known parameters of a URL and ignores the rest. */
export function readSearch(search: Record<string, unknown>): ListSearch {
  const known: ListSearch = {}
  for (const name of NUMBERS) {
    const value = Number(search[name])
    if (Number.isInteger(value) && value >= 1 && value <= (name === 'limit' ? 100 : 1_000_000)) known[name] = value
  }
  for (const name of TEXTS) {
    const value = search[name]
    if ((typeof value === 'string' || typeof value === 'number') && value !== '') known[name] = String(value)
  }
  return known
}

export function usePaging() {
  const search: ListSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const setSearch = (change: ListSearch): void =>
    void navigate({ to: '.', search: (now: ListSearch) => ({ ...now, ...change }), replace: false, resetScroll: false })
  /** Changing a filter resets to the first page. */
  const filter = (change: ListSearch): void => setSearch({ page: undefined, ...change })
  /** Another tab begins without the filters of this one. */
  const replaceSearch = (search: ListSearch): void => void navigate({ to: '.', search, resetScroll: false })
  return { search, setSearch, filter, replaceSearch }
}
