import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { Node } from './schema.ts'
import { listNodes } from './service.ts'

export const hostRoutes: Routes = (api, { db }) => {
  api.get(
    '/regions/:id/nodes',
    {
      operationId: 'listNodes',
      summary: "List a region's hosts",
      tag: 'Catalog',
      scope: 'catalog:read',
      params: { id: Type.String() },
      data: Type.Array(Node),
    },
    ({ params }) => listNodes(db, params.id),
  )
}
