// Images of OS templates, imported from the dashboard.
import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { listTemplateImports, startTemplateImport } from '../images/service.ts'
import { OPERATOR } from '../sessions/service.ts'
import { showTemplates } from './fleet.ts'
import { OperatorTemplate } from './fleet.schema.ts'
import { ImportTemplate, TemplateImport } from './templates.schema.ts'
import { toTemplateImport } from './view.ts'

const common = { tag: 'Operator', scope: OPERATOR }

export const templateRoutes: Routes = (api, deps) => {
  const { db, outbound, config } = deps

  api.get(
    '/operator/templates',
    { operationId: 'operatorListTemplates', summary: 'List OS templates', ...common, data: Type.Array(OperatorTemplate) },
    () => showTemplates(db, config.command),
  )

  api.get(
    '/operator/template-imports',
    {
      operationId: 'operatorListTemplateImports',
      summary: 'List imports of images of OS templates, newest first',
      ...common,
      data: Type.Array(TemplateImport),
    },
    async () => (await listTemplateImports(db)).map(toTemplateImport),
  )

  api.post(
    '/operator/template-imports',
    {
      operationId: 'operatorImportTemplate',
      summary: 'Import the image of an OS template, a new one or one of the catalog',
      ...common,
      requiresReauth: true,
      body: ImportTemplate,
      status: 202,
      data: TemplateImport,
      errorCodes: ['busy', 'url_not_allowed'],
      prepare: async ({ body: { url, checksumsUrl } }) => {
        for (const each of [url, checksumsUrl]) {
          const reason = each === undefined ? null : await outbound.rejectionReason(each)
          if (reason) return reason
        }
        return null
      },
    },
    async (tx, { body }, reasonAgainst) => {
      const id = await startTemplateImport(tx, deps, body, reasonAgainst)
      return toTemplateImport((await listTemplateImports(tx)).find((each) => each.id === id)!)
    },
  )
}
