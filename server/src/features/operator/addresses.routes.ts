// Who had a public address when: what an abuse report asks.
import { nullable, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { listHolders, type HolderRow } from '../address-history/service.ts'
import type { Routes } from '../deps.ts'
import { OPERATOR } from '../sessions/service.ts'

const AddressHolder = object(
  {
    address: Type.String({ description: 'The address, or the IPv6 prefix of which the VM had every address' }),
    vmId: Type.String(),
    vmName: Type.String({ description: 'As it is called, or was when it got the address' }),
    vmExists: Type.Boolean(),
    accountId: Type.String(),
    email: Type.String({ description: 'Of the account when the VM got the address' }),
    isFloating: Type.Boolean({ description: 'A reserved address that was assigned to the VM' }),
    since: Timestamp,
    until: nullable({ ...Timestamp, description: 'null: the VM has it' }),
  },
  { title: 'AddressHolder' },
)

const toHolder = (row: HolderRow): Static<typeof AddressHolder> => ({
  address: row.address,
  vmId: row.vm_id,
  vmName: row.vm_name,
  vmExists: row.vm_exists,
  accountId: row.account_id,
  email: row.email,
  isFloating: row.is_floating,
  since: row.since.toISOString(),
  until: row.until?.toISOString() ?? null,
})

export const addressHistoryRoutes: Routes = (api, { db }) => {
  api.get(
    '/operator/addresses/:address/history',
    {
      operationId: 'operatorGetAddressHistory',
      summary: 'Say which VM had a public address when, also of VMs and accounts that are gone',
      tag: 'Operator',
      scope: OPERATOR,
      params: { address: Type.String({ maxLength: 64, description: 'IPv4 or IPv6' }) },
      query: { at: Type.Optional({ ...Timestamp, description: 'Who had it then; without it all that are known, newest first' }) },
      data: Type.Array(AddressHolder),
    },
    async ({ params: { address }, query: { at } }) =>
      (await listHolders(db, address, at === undefined ? null : new Date(at))).map(toHolder),
  )
}
