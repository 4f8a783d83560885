import { Money, nullable, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'

export const DEPOSIT_STATUSES = ['PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'EXPIRED'] as const

export const Deposit = object(
  {
    id: Type.String(),
    status: Type.String({
      enum: [...DEPOSIT_STATUSES],
      description:
        'PROCESSING: paid by a method that takes days. SUCCEEDED: in the wallet. EXPIRED: not paid for 14 days; credited if it is paid later',
    }),
    amount: Money,
    currency: Type.String(),
    provider: Type.String({ enum: ['manual', 'stripe'] }),
    checkoutUrl: nullable(Type.String({ description: 'The page to pay at, while it is PENDING' })),
    instructions: nullable(Type.String({ description: 'How to pay where there is no page' })),
    refunded: Type.String({ description: 'What was refunded or charged back since: decimal with two places' }),
    transactionId: nullable(Type.String({ description: 'The entry of the ledger, once it is in the wallet' })),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Deposit' },
)
export type Deposit = Static<typeof Deposit>

export const CreateDeposit = object(
  {
    amount: Type.String({
      pattern: '^\\d{1,5}(\\.\\d{1,2})?$',
      rule: 'must be an amount such as "25" or "25.00"',
      description: 'From 1.00 to 50000.00, as a decimal string',
    }),
  },
  { title: 'CreateDeposit' },
)
export type CreateDeposit = Static<typeof CreateDeposit>
