import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { OsTemplate, Plan, Region } from './schema.ts'
import { getOsTemplate, listOfferedPlans, listRegions, listTemplates } from './service.ts'

const tag = 'Catalog'
const scope = 'catalog:read'

export const catalogRoutes: Routes = (api, { db, config }) => {
  api.get('/regions', { operationId: 'listRegions', summary: 'List regions', tag, scope, data: Type.Array(Region) }, () => listRegions(db))

  api.get('/plans', { operationId: 'listPlans', summary: 'List plans', tag, scope, data: Type.Array(Plan) }, () =>
    listOfferedPlans(db, config.currency),
  )

  api.get('/os-templates', { operationId: 'listOsTemplates', summary: 'List OS templates', tag, scope, data: Type.Array(OsTemplate) }, () =>
    listTemplates(db),
  )

  api.get(
    '/os-templates/:slug',
    { operationId: 'getOsTemplate', summary: 'Get an OS template', tag, scope, params: { slug: Type.String() }, data: OsTemplate },
    ({ params }) => getOsTemplate(db, params.slug),
  )
}
