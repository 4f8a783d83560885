import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { CreatePlacementGroup, DeletedPlacementGroup, PlacementGroup, PlacementGroupQuery, RenamePlacementGroup } from './schema.ts'
import { createGroup, deleteGroup, getGroup, listGroups, renameGroup } from './service.ts'

const tag = 'Placement groups'
const params = { id: Type.String() }

export const placementGroupRoutes: Routes = (api, { db, clock }) => {
  api.page(
    '/placement-groups',
    {
      operationId: 'listPlacementGroups',
      summary: 'List placement groups, newest first',
      tag,
      scope: 'placement_groups:read',
      query: PlacementGroupQuery,
      data: PlacementGroup,
    },
    ({ principal, query }, page) => listGroups(db, principal.accountId, query.labelSelector, page),
  )

  api.post(
    '/placement-groups',
    {
      operationId: 'createPlacementGroup',
      errorCodes: ['quota_exceeded'],
      summary: 'Create a placement group. VMs are created in it with placementGroupId',
      tag,
      scope: 'placement_groups:create',
      body: CreatePlacementGroup,
      status: 201,
      data: PlacementGroup,
    },
    (tx, { principal, body }) => createGroup(tx, clock.now(), principal.accountId, body),
  )

  api.get(
    '/placement-groups/:id',
    {
      operationId: 'getPlacementGroup',
      summary: 'Get a placement group with its VMs',
      tag,
      scope: 'placement_groups:read',
      params,
      data: PlacementGroup,
    },
    ({ principal, params: { id } }) => getGroup(db, principal.accountId, id),
  )

  api.patch(
    '/placement-groups/:id',
    {
      operationId: 'renamePlacementGroup',
      summary: 'Rename or label a placement group. Its policy stays as it was created',
      tag,
      scope: 'placement_groups:update',
      params,
      body: RenamePlacementGroup,
      data: PlacementGroup,
      before: (tx, { principal, params: { id } }) => getGroup(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => renameGroup(tx, principal.accountId, id, body),
  )

  api.delete(
    '/placement-groups/:id',
    {
      operationId: 'deletePlacementGroup',
      errorCodes: ['in_use'],
      summary: 'Delete a placement group that has no VMs',
      tag,
      scope: 'placement_groups:delete',
      params,
      data: DeletedPlacementGroup,
      before: (tx, { principal, params: { id } }) => getGroup(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => deleteGroup(tx, principal.accountId, id),
  )
}
