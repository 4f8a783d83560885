import { Type } from '../../http/api/schema.ts'
import { BrandingImage, BrandingPreview, BrandingSettings, OperatorBranding } from '../branding/schema.ts'
import { changeBranding, getBranding, resetBranding, setImage } from '../branding/service.ts'
import type { Routes } from '../deps.ts'
import { OPERATOR } from '../sessions/service.ts'

const common = { tag: 'Operator', scope: OPERATOR, data: OperatorBranding }
const params = { name: Type.String({ description: 'logo, logo-dark or favicon' }) }

export const brandingRoutes: Routes = (api, deps) => {
  const before = () => getBranding(deps.db)

  api.get(
    '/operator/branding',
    { operationId: 'operatorGetBranding', summary: 'How the product shows itself to customers', ...common },
    () => getBranding(deps.db),
  )

  api.put(
    '/operator/branding',
    {
      operationId: 'operatorChangeBranding',
      summary: 'Change how the product shows itself to customers',
      ...common,
      query: {
        dryRun: Type.Optional(Type.Boolean({ description: 'Changes nothing, and answers what mails and colours would look like' })),
      },
      body: BrandingSettings,
      dryRunData: BrandingPreview,
      before,
    },
    (tx, { body, query }) => changeBranding(tx, deps, body, query.dryRun),
  )

  api.delete('/operator/branding', { operationId: 'operatorResetBranding', summary: 'Show the product as it comes', ...common }, (tx) =>
    resetBranding(tx, deps),
  )

  api.put(
    '/operator/branding/images/:name',
    { operationId: 'operatorSetBrandingImage', summary: 'Set the logo or the icon', ...common, params, body: BrandingImage },
    (tx, { params: { name }, body }) => setImage(tx, deps, name, body.data),
  )

  api.delete(
    '/operator/branding/images/:name',
    { operationId: 'operatorRemoveBrandingImage', summary: 'Remove the logo or the icon', ...common, params },
    (tx, { params: { name } }) => setImage(tx, deps, name, null),
  )
}
