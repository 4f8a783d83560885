import { useQuery } from '@tanstack/react-query'
import { plansQuery, regionsQuery } from '../../queries/catalog.ts'
import { LabelFilter } from '../../ui/Labels.tsx'
import { FilterSelect, SearchField } from '../../ui/ListTools.tsx'
import type { ListSearch } from '../../ui/paging.ts'
import { listMessages as w, vmsMessages } from '../../words/words.ts'
import { STATUS_CHOICES, filterBy, findChoice } from './status-choices.ts'

export const VM_FILTERS = ['q', 'status', 'region', 'plan', 'labels'] as const

const isAddress = (text: string): boolean => /^(\d{1,3}(\.\d{1,3}){3}|[\da-f]*:[\da-f:.]*)$/i.test(text)

/** What the API is asked, of what is in the URL. */
export const vmQueryOf = ({ q, status, region, plan, labels }: ListSearch) => ({
  ...(q !== undefined && (isAddress(q) ? { address: q } : { name: q })),
  ...filterBy(findChoice(status)),
  region,
  plan,
  labelSelector: labels,
})

export function VmFilters() {
  const regions = useQuery(regionsQuery).data ?? []
  const plans = useQuery(plansQuery).data ?? []
  return (
    <>
      <SearchField label={w.search} placeholder={w.searchHint} />
      <FilterSelect name="status" label={vmsMessages.filter} all={w.allStatuses} choices={Object.entries(STATUS_CHOICES)} />
      <FilterSelect name="region" label={w.region} all={w.allRegions} choices={regions.map(({ slug, name }) => [slug, name])} />
      <FilterSelect
        name="plan"
        label={w.plan}
        all={w.allPlans}
        choices={[...plans.map(({ slug, name }): [string, string] => [slug, name]), ['custom', w.customPlan]]}
      />
      <LabelFilter />
    </>
  )
}
