import { Money, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'

export const TRANSACTION_TYPES = [
  'DEPOSIT',
  'CREDIT',
  'VM_CHARGE',
  'VM_RENEWAL',
  'VM_UPGRADE',
  'VM_REFUND',
  'BANDWIDTH_PACK',
  'ADDON_CHARGE',
  'ADJUSTMENT',
  'ADDRESS_CHARGE',
  'ADDRESS_RENEWAL',
  'ADDRESS_REFUND',
  'IMAGE_CHARGE',
  'IMAGE_RENEWAL',
  'IMAGE_REFUND',
  'VOLUME_CHARGE',
  'VOLUME_UPGRADE',
  'VOLUME_RENEWAL',
  'VOLUME_REFUND',
  'VM_UNSHELVE',
] as const
export type TransactionType = (typeof TRANSACTION_TYPES)[number]

export const REFERENCE_TYPES = ['VM', 'PAYMENT', 'ADMIN', 'ADDRESS', 'IMAGE', 'VOLUME'] as const
export type ReferenceType = (typeof REFERENCE_TYPES)[number]

/** Those of a project know what it costs, and not what is in the wallet. */
export const ShownBalance = nullable(
  Type.String({ description: 'Decimal with two places; null in a project, whose members do not see the wallet of the account that pays' }),
)

export const Transaction = object(
  {
    id: Type.String(),
    type: Type.String({ enum: [...TRANSACTION_TYPES] }),
    description: Type.String(),
    referenceType: Type.String({ enum: [...REFERENCE_TYPES] }),
    referenceId: Type.String({ description: 'The id of what the money was for or came from' }),
    createdAt: Timestamp,
    amount: Money,
    balanceAfter: ShownBalance,
    project: nullable(
      object(
        { id: Type.String(), name: Type.String({ description: 'As it was called then' }) },
        { description: 'What it was paid for; null = for the account itself' },
      ),
    ),
  },
  { title: 'Transaction' },
)
export type Transaction = Static<typeof Transaction>

const DATE = 'ISO 8601 date or date-time, UTC unless it says otherwise'

export const TransactionFilter = {
  type: Type.Optional(oneOf([...TRANSACTION_TYPES])),
  dateFrom: Type.Optional(Type.String({ description: `${DATE}; a date means its first moment` })),
  dateTo: Type.Optional(Type.String({ description: `${DATE}; a date means its last moment` })),
  referenceId: Type.Optional(Type.String({ maxLength: 64, description: 'What the money was for, such as the id of a VM' })),
}
export type TransactionFilter = Static<ReturnType<typeof Type.Object<typeof TransactionFilter>>>

export const Wallet = object(
  {
    balance: Money,
    currency: Type.String({ description: 'ISO 4217, for example USD' }),
    dueNext7Days: Type.String({ description: 'What renewals will charge within 7 days: decimal with two places' }),
    daysLeft: nullable(Type.Integer({ description: 'Whole days the balance lasts at the present monthly cost; null when nothing renews' })),
  },
  { title: 'Wallet' },
)
export type Wallet = Static<typeof Wallet>

export const DryRunQuery = { dryRun: Type.Optional(Type.Boolean({ description: 'Validate, place and price, but change nothing' })) }

const Charge = Type.String({ description: 'What would be taken from the wallet now, for example "12.00"; negative: given back' })
const Monthly = Type.String({ description: 'What the VM would cost a month from then on' })
export const Quote = object({ charge: Charge, monthly: Monthly, currency: Type.String(), balanceAfter: ShownBalance }, { title: 'Quote' })
export type Quote = Static<typeof Quote>
/** Added to an operation that charges or refunds, for its dry run. */
export const quotedOnDryRun = { query: DryRunQuery, dryRunData: Quote }

/** The wallet as an event shows it: right after the change. */
export const EventWallet = object({ balance: Money, currency: Type.String({ description: 'ISO 4217, for example USD' }) })

export const walletEvents = {
  'billing.payment_received': defineEvent(
    object(
      {
        source: Type.Optional(
          Type.String({
            enum: ['payment', 'operator'],
            description: 'Who paid: a deposit, or a credit of the operator. Absent before 0.2.0',
          }),
        ),
        transaction: Transaction,
        wallet: EventWallet,
      },
      { title: 'PaymentEventData' },
    ),
    'A deposit or a credit of the operator is in the wallet',
    { sometimesBy: ['createDeposit'] },
  ),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof walletEvents> {}
}
