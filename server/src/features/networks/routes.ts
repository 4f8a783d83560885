import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import {
  CreateNetwork,
  CreatePeering,
  CreateRoute,
  DeletedNetwork,
  Network,
  NetworkAttachment,
  NetworkPeering,
  NetworkQuery,
  NetworkRoute,
  RenameNetwork,
} from './schema.ts'
import {
  createNetwork,
  createPeering,
  createRoute,
  deleteNetwork,
  deletePeering,
  deleteRoute,
  getNetwork,
  getPeering,
  getRoute,
  listAttachments,
  listNetworks,
  listPeerings,
  listRoutes,
  renameNetwork,
} from './service.ts'

const tag = 'Networks'
const params = { id: Type.String() }
const read = { tag, scope: 'networks:read' }
const update = { tag, scope: 'networks:update' }

export const networkRoutes: Routes = (api, { db, clock }) => {
  api.page(
    '/networks',
    {
      operationId: 'listNetworks',
      summary: 'List private networks, newest first',
      tag,
      scope: 'networks:read',
      query: NetworkQuery,
      data: Network,
    },
    ({ principal, query }, page) => listNetworks(db, principal.accountId, query, page),
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
      summary: 'Rename or label a private network. Its range, gateway, SNAT and DHCP stay as they were created',
      tag,
      scope: 'networks:update',
      params,
      body: RenameNetwork,
      data: Network,
      before: (tx, { principal, params: { id } }) => getNetwork(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => renameNetwork(tx, clock.now(), principal.accountId, id, body),
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
      before: (tx, { principal, params: { id } }) => getNetwork(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => deleteNetwork(tx, clock.now(), principal.accountId, id),
  )

  api.get(
    '/networks/:id/attachments',
    {
      ...read,
      operationId: 'listNetworkAttachments',
      summary: 'List the VMs in a network with their addresses in it, by address',
      params,
      data: Type.Array(NetworkAttachment),
    },
    ({ principal, params: { id } }) => listAttachments(db, principal.accountId, id),
  )

  api.get(
    '/networks/:id/routes',
    {
      ...read,
      operationId: 'listNetworkRoutes',
      summary: "List the routes of a network's gateway, by destination",
      params,
      data: Type.Array(NetworkRoute),
    },
    ({ principal, params: { id } }) => listRoutes(db, principal.accountId, id),
  )

  api.post(
    '/networks/:id/routes',
    {
      ...update,
      operationId: 'createNetworkRoute',
      errorCodes: ['already_exists', 'networks_overlap', 'incompatible', 'quota_exceeded'],
      summary:
        "Route a range to one of the network's VMs. The gateway forwards to it, and guests learn the route from their agents and from DHCP",
      params,
      body: CreateRoute,
      status: 201,
      data: NetworkRoute,
    },
    (tx, { principal, params: { id }, body }) => createRoute(tx, clock.now(), principal.accountId, id, body),
  )

  api.get(
    '/networks/:id/routes/:routeId',
    { ...read, operationId: 'getNetworkRoute', summary: 'Get a route', params: { ...params, routeId: Type.String() }, data: NetworkRoute },
    ({ principal, params: { id, routeId } }) => getRoute(db, principal.accountId, id, routeId),
  )

  api.delete(
    '/networks/:id/routes/:routeId',
    {
      ...update,
      operationId: 'deleteNetworkRoute',
      summary: 'Delete a route',
      params: { ...params, routeId: Type.String() },
      data: DeletedNetwork,
    },
    (tx, { principal, params: { id, routeId } }) => deleteRoute(tx, clock.now(), principal.accountId, id, routeId),
  )

  api.get(
    '/networks/:id/peerings',
    {
      ...read,
      operationId: 'listNetworkPeerings',
      summary: 'List the networks that a network is connected to, by range',
      params,
      data: Type.Array(NetworkPeering),
    },
    ({ principal, params: { id } }) => listPeerings(db, principal.accountId, id),
  )

  api.post(
    '/networks/:id/peerings',
    {
      ...update,
      operationId: 'createNetworkPeering',
      errorCodes: ['already_exists', 'networks_overlap', 'incompatible', 'region_mismatch', 'quota_exceeded'],
      summary:
        'Connect two networks of a region. Their gateways forward between them, and guests learn the routes from their agents and from DHCP',
      params,
      body: CreatePeering,
      status: 201,
      data: NetworkPeering,
    },
    (tx, { principal, params: { id }, body }) => createPeering(tx, clock.now(), principal.accountId, id, body.networkId),
  )

  api.get(
    '/networks/:id/peerings/:peeringId',
    {
      ...read,
      operationId: 'getNetworkPeering',
      summary: 'Get a peering, from either side',
      params: { ...params, peeringId: Type.String() },
      data: NetworkPeering,
    },
    ({ principal, params: { id, peeringId } }) => getPeering(db, principal.accountId, id, peeringId),
  )

  api.delete(
    '/networks/:id/peerings/:peeringId',
    {
      ...update,
      operationId: 'deleteNetworkPeering',
      summary: 'Disconnect two networks, from either side',
      params: { ...params, peeringId: Type.String() },
      data: DeletedNetwork,
    },
    (tx, { principal, params: { id, peeringId } }) => deletePeering(tx, clock.now(), principal.accountId, id, peeringId),
  )
}
