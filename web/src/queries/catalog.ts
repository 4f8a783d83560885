import { queryOptions } from '@tanstack/react-query'
import { berth } from '../api/berth.ts'

/** The catalog changes rarely. */
const staleTime = 5 * 60_000

export const regionsQuery = queryOptions({ queryKey: ['regions'], queryFn: ({ signal }) => berth.regions.list({ signal }), staleTime })
export const plansQuery = queryOptions({ queryKey: ['plans'], queryFn: ({ signal }) => berth.plans.list({ signal }), staleTime })
/** As fresh as the server has it. */
export const availabilityQuery = queryOptions({
  queryKey: ['availability'],
  queryFn: ({ signal }) => berth.plans.availability({}, { signal }),
  staleTime: 5_000,
  refetchInterval: 60_000,
})
export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: ({ signal }) => berth.osTemplates.list({ signal }),
  staleTime,
})
