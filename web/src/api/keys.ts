import { queryOptions } from '@tanstack/react-query'
import { berth } from './berth.ts'
import { apiRequest } from './request.ts'

export interface Scope {
  scope: string
  resource: string
  verb: string
}

export const keysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ signal }) => berth.tokens.list({ limit: 100 }, { signal }).all(),
})
export const scopesQuery = queryOptions({ queryKey: ['scopes'], queryFn: () => apiRequest<Scope[]>('GET', '/scopes'), staleTime: Infinity })
