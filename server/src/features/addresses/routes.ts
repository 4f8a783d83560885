import { Type } from '../../http/api/schema.ts'
import { accepted } from '../actions/service.ts'
import type { Routes } from '../deps.ts'
import { quotedOnDryRun } from '../wallet/schema.ts'
import { assignAddress, unassignAddress } from './move.workflow.ts'
import {
  Address,
  AddressMoving,
  AddressQuery,
  AssignAddress,
  ReleasedAddress,
  UpdateAddress,
  ReserveAddress,
  UnassignQuery,
} from './schema.ts'
import { getAddress, listAddresses, releaseAddress, updateAddress, reserveAddress } from './service.ts'

const tag = 'Addresses'
const params = { id: Type.String() }
const moved = { tag, scope: 'addresses:update', params, status: 202, data: AddressMoving }

export const addressRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.page(
    '/addresses',
    {
      operationId: 'listAddresses',
      summary: 'List floating addresses, newest first',
      tag,
      scope: 'addresses:read',
      query: AddressQuery,
      data: Address,
    },
    ({ principal, query }, page) => listAddresses(db, principal.accountId, query, page),
  )

  api.post(
    '/addresses',
    {
      operationId: 'reserveAddress',
      errorCodes: ['not_found', 'unavailable', 'quota_exceeded', 'insufficient_funds', 'no_capacity'],
      summary: 'Reserve a public address that can move between VMs of a region. It is charged monthly, assigned or not',
      tag,
      scope: 'addresses:create',
      body: ReserveAddress,
      status: 201,
      data: Address,
      ...quotedOnDryRun,
    },
    (tx, { principal, body, query }) => reserveAddress(tx, deps, principal.accountId, body, query.dryRun),
  )

  api.get(
    '/addresses/:id',
    { operationId: 'getAddress', summary: 'Get a floating address', tag, scope: 'addresses:read', params, data: Address },
    ({ principal, params: { id } }) => getAddress(db, principal.accountId, id),
  )

  api.patch(
    '/addresses/:id',
    {
      operationId: 'updateAddress',
      errorCodes: ['invalid_state', 'unavailable'],
      summary: 'Rename a floating address, or set its name in reverse DNS',
      tag,
      scope: 'addresses:update',
      params,
      body: UpdateAddress,
      data: Address,
      before: (tx, { principal, params: { id } }) => getAddress(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => updateAddress(tx, deps, principal.accountId, id, body),
  )

  api.delete(
    '/addresses/:id',
    {
      operationId: 'releaseAddress',
      errorCodes: ['busy', 'in_use'],
      summary: 'Release a floating address that is not assigned. Unused whole days are refunded',
      tag,
      scope: 'addresses:delete',
      params,
      data: ReleasedAddress,
      ...quotedOnDryRun,
      before: (tx, { principal, params: { id } }) => getAddress(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, query }) => releaseAddress(tx, deps, principal.accountId, id, query.dryRun),
  )

  api.post(
    '/addresses/:id/assignment',
    {
      operationId: 'assignAddress',
      errorCodes: ['busy', 'invalid_state', 'incompatible', 'region_mismatch'],
      summary: 'Assign a floating address to a VM, taking it from the VM that has it',
      ...moved,
      body: AssignAddress,
    },
    async (tx, { principal, params: { id }, body }) => {
      const moving = await assignAddress(tx, deps, principal, id, body)
      return accepted(moving.vmId, moving)
    },
  )

  api.delete(
    '/addresses/:id/assignment',
    {
      operationId: 'unassignAddress',
      errorCodes: ['busy', 'invalid_state'],
      summary: 'Take a floating address from its VM',
      ...moved,
      query: UnassignQuery,
    },
    async (tx, { principal, params: { id }, query }) => {
      const moving = await unassignAddress(tx, deps, principal, id, query.expectedVmId)
      return accepted(moving.vmId, moving)
    },
  )
}
