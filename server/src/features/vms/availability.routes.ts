import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { availabilityReader } from './availability.ts'
import { Availability, AvailabilityQuery } from './schema.ts'

export const availabilityRoutes: Routes = (api, deps) => {
  const read = availabilityReader(deps)
  api.get(
    '/availability',
    {
      operationId: 'listAvailability',
      summary: 'Say which plan can be had in which region now, for which architecture, and why not',
      tag: 'Catalog',
      scope: 'catalog:read',
      query: AvailabilityQuery,
      data: Type.Array(Availability),
    },
    ({ query }) => read(query),
  )
}
