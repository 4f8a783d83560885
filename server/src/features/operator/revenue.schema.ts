import { Money, nullable, object, Type, type Static } from '../../http/api/schema.ts'
import { TRANSACTION_TYPES } from '../wallet/schema.ts'
import { RegionCapacity } from './fleet.schema.ts'

export const RevenueQuery = {
  month: Type.Optional(Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$', rule: 'must be a month such as 2027-03' })),
}

export const Revenue = object(
  {
    month: Type.String({ description: 'In UTC, such as 2027-03' }),
    currency: Type.String(),
    rows: Type.Array(
      object({
        type: Type.String({ enum: [...TRANSACTION_TYPES] }),
        region: nullable(Type.String({ description: 'Slug; null: of no region, or of something that is deleted' })),
        amount: Money,
        count: Type.Integer(),
      }),
      { description: 'The entries of the ledger of the month; what customers paid for is negative, as in their wallets' },
    ),
    charges: { ...Money, description: 'What was charged, before refunds' },
    refunds: Money,
    net: { ...Money, description: 'Charges without refunds' },
    deposits: Money,
    credits: { ...Money, description: 'Credits and adjustments by operators' },
    change: { ...Money, description: 'Of all wallets together: the sum of all entries of the month' },
    balances: { ...Money, description: 'In all wallets now' },
    monthly: { ...Money, description: 'What everything that is paid now costs a month' },
    outstanding: { ...Money, description: 'What is past due now' },
    topAccounts: Type.Array(object({ accountId: Type.String(), email: Type.String(), net: Money })),
    capacity: Type.Array(RegionCapacity),
  },
  { title: 'Revenue' },
)
export type Revenue = Static<typeof Revenue>
