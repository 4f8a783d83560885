// Schemas of accounts, their users and VMs.
import { Money, nullable, object, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'
import { RoleName } from '../accounts/schema.ts'

const account = {
  id: Type.String(),
  email: Type.String({ description: 'Of a project that of the account that pays for it' }),
  name: Type.String(),
  paidBy: nullable(Type.String({ description: 'Of a project: the id of the account that pays for it' })),
  balance: Money,
  currency: Type.String(),
  vmCount: Type.Integer(),
  suspendedAt: nullable(Timestamp),
  createdAt: Timestamp,
}
export const OperatorAccount = object(account, { title: 'OperatorAccount' })
export type OperatorAccount = Static<typeof OperatorAccount>

export const AccountQuery = { q: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the e-mail address, name or id' })) }

export const Limit = object({
  name: Type.String({ description: 'As the catalog has it, such as vms or ram_mib' }),
  limit: Type.Integer(),
  used: nullable(Type.Integer({ description: 'null where the limit holds for each single thing' })),
  isDefault: Type.Boolean(),
})
export const Person = object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: nullable(RoleName),
  isOperator: Type.Boolean(),
  totpEnabled: Type.Boolean(),
  hasPassword: Type.Boolean({ description: 'False until the first link was used' }),
  lastSeenAt: nullable(Timestamp),
})
export const AccountDetails = object({ ...account, limits: Type.Array(Limit), users: Type.Array(Person) }, { title: 'AccountDetails' })
export type AccountDetails = Static<typeof AccountDetails>

export const CreateAccount = object({ email: text(3, 254), name: Type.Optional(nameText(0, 100)) })
export type CreateAccount = Static<typeof CreateAccount>

const Amount = Type.String({ pattern: '^-?\\d{1,9}(\\.\\d{1,2})?$', rule: 'must be an amount such as 12.50 or -12.50' })
export const MoneyOrder = object({ amount: Amount, reason: text(1, 500) })
export type MoneyOrder = Static<typeof MoneyOrder>
export const MoneyMoved = object(
  { transactionId: Type.String(), amount: Money, balance: Money, currency: Type.String() },
  { title: 'MoneyMoved' },
)

export const ChangeLimit = object({
  limit: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'null = the default' })),
})

export const SetUpLink = object(
  { url: Type.String({ description: 'Works once, within 24 hours' }), expiresAt: Timestamp },
  { title: 'SetUpLink' },
)

export const VisitAccount = object({ reason: text(3, 500) })
export const VisitStarted = object({ accountId: Type.String(), endsAt: Timestamp }, { title: 'VisitStarted' })
export const Visit = object(
  {
    id: Type.String(),
    by: Type.String({ description: 'The address of the operator' }),
    reason: Type.String(),
    startedAt: Timestamp,
    endedAt: nullable({ ...Timestamp, description: 'null: it is under way' }),
    writesReason: nullable(Type.String({ description: 'Why changes were allowed; null: they were not' })),
  },
  { title: 'Visit' },
)
export type Visit = Static<typeof Visit>

export const SuspendAccount = object({ reason: text(1, 500) })
export const AccountSuspended = object(
  {
    account: OperatorAccount,
    actionIds: Type.Array(Type.String()),
    skipped: Type.Array(object({ vmId: Type.String(), reason: Type.String() })),
  },
  { title: 'AccountSuspended' },
)
export type AccountSuspended = Static<typeof AccountSuspended>

export const OperatorVm = object(
  {
    id: Type.String(),
    name: Type.String(),
    accountId: Type.String(),
    email: Type.String(),
    status: Type.String(),
    statusReason: nullable(Type.String()),
    plan: Type.String(),
    host: nullable(Type.String()),
    ipAddress: nullable(Type.String()),
    ipv6Address: nullable(Type.String()),
    createdAt: Timestamp,
  },
  { title: 'OperatorVm' },
)
export type OperatorVm = Static<typeof OperatorVm>
export const VmQuery = {
  q: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the name or hostname, or the whole id or any address' })),
  account: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  host: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  status: Type.Optional(Type.String({ maxLength: 32 })),
}
export const Done = object({ message: Type.String(), actionId: nullable(Type.String()) }, { title: 'Done' })
