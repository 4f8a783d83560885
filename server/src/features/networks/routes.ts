import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { CreateNetwork, DeletedNetwork, Network, RenameNetwork } from './schema.ts'
import { createNetwork, deleteNetwork, getNetwork, listNetworks, renameNetwork } from './service.ts'

const tag = 'Networks'
const params = { id: Type.String() }

export const networkRoutes: Routes = (api, { db, clock }) => {
  api.page(
    '/networks',
    { operationId: 'listNetworks', summary: 'List private networks, newest first', tag, scope: 'networks:read', data: Network },
    ({ principal }, page) => listNetworks(db, principal.accountId, page),
  )

  api.post(
    '/networks',
    {
      operationId: 'createNetwork',
      errorCodes: ['not_found', 'networks_overlap', 'incompatible', 'unavailable', 'quota_exceeded', 'no_capacity'],
      summary: 'Create a private network',
      tag,
      scope: 'networks:create',
      body: CreateNetwork,
      status: 201,
      data: Network,
    },
    (tx, { principal, body }) => createNetwork(tx, clock.now(), principal.accountId, body),
  )

  api.get(
    '/networks/:id',
    { operationId: 'getNetwork', summary: 'Get a private network', tag, scope: 'networks:read', params, data: Network },
    ({ principal, params: { id } }) => getNetwork(db, principal.accountId, id),
  )

  api.patch(
    '/networks/:id',
    {
      operationId: 'renameNetwork',
      summary: 'Rename a private network. Its range, gateway, SNAT and DHCP stay as they were created',
      tag,
      scope: 'networks:update',
      params,
      body: RenameNetwork,
      data: Network,
    },
    (tx, { principal, params: { id }, body }) => renameNetwork(tx, clock.now(), principal.accountId, id, body.name),
  )

  api.delete(
    '/networks/:id',
    {
      operationId: 'deleteNetwork',
      errorCodes: ['in_use'],
      summary: 'Delete a private network that no VM is attached to',
      tag,
      scope: 'networks:delete',
      params,
      data: DeletedNetwork,
    },
    (tx, { principal, params: { id } }) => deleteNetwork(tx, clock.now(), principal.accountId, id),
  )
}
