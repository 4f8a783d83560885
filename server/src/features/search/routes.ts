import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { SearchQuery, SearchResult } from './schema.ts'
import { search } from './service.ts'

export const searchRoutes: Routes = (api, { db }) => {
  api.get(
    '/search',
    {
      operationId: 'search',
      summary: 'Find things of the account by name, id, address or label, the closest first. Only kinds whose :read scope the token has',
      tag: 'Search',
      scope: null,
      query: SearchQuery,
      data: Type.Array(SearchResult),
    },
    ({ principal, query }) => search(db, principal, query),
  )
}
