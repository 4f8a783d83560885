// The firewall operations that need a VM of the account.
import { ApiResponse } from '../../http/api/api.ts'
import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { BindFirewall, CheckPacket, FirewallBinding, Verdict } from '../firewalls/schema.ts'
import { bindFirewall, checkPacket, unbindFirewall } from '../firewalls/service.ts'
import { lockOwnVm, requireVm } from './model/guards.ts'
import { addressesIn } from './model/ports.ts'

const tag = 'Firewalls'
const params = { id: Type.String() }

export const firewallBindingRoutes: Routes = (api, { clock }) => {
  api.post(
    '/firewalls/:id/bindings',
    {
      operationId: 'bindFirewall',
      errorCodes: ['quota_exceeded'],
      summary: 'Bind a firewall to a VM; 200 when it was bound already',
      tag,
      scope: 'firewalls:update',
      params,
      body: BindFirewall,
      status: [201, 200],
      data: FirewallBinding,
    },
    async (tx, { principal: { accountId }, params: { id }, body }) => {
      await lockOwnVm(tx, { accountId }, body.vmId)
      const { binding, isNew } = await bindFirewall(tx, clock.now(), accountId, id, body.vmId)
      return new ApiResponse(binding, isNew ? 201 : 200)
    },
  )

  api.delete(
    '/firewalls/:id/bindings/:vmId',
    {
      operationId: 'unbindFirewall',
      summary: 'Unbind a firewall from a VM',
      tag,
      scope: 'firewalls:update',
      params: { ...params, vmId: Type.String() },
      data: FirewallBinding,
    },
    async (tx, { principal: { accountId }, params: { id, vmId } }) =>
      unbindFirewall(tx, accountId, id, await lockOwnVm(tx, { accountId }, vmId)),
  )

  api.post(
    '/firewalls/:id/check',
    {
      operationId: 'checkPacket',
      errorCodes: ['invalid_state'],
      summary: 'Say which rule would decide about a packet on the public interface of a VM, or on a private one',
      tag,
      scope: 'firewalls:read',
      params,
      body: CheckPacket,
      data: Verdict,
    },
    async (tx, { principal: { accountId }, params: { id }, body: { vmId, networkId = null, ...packet } }) => {
      const addresses = await addressesIn(tx, await requireVm(tx, accountId, vmId), networkId)
      return checkPacket(tx, accountId, id, { vmId, networkId, addresses }, packet)
    },
  )
}
