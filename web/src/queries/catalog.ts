import { queryOptions } from '@tanstack/react-query'
import { berth } from '../api/berth.ts'

/** The catalog changes rarely. */
const staleTime = 5 * 60_000

export const regionsQuery = queryOptions({ queryKey: ['regions'], queryFn: ({ signal }) => berth.regions.list({ signal }), staleTime })
export const plansQuery = queryOptions({ queryKey: ['plans'], queryFn: ({ signal }) => berth.plans.list({ signal }), staleTime })
export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: ({ signal }) => berth.osTemplates.list({ signal }),
  staleTime,
})
