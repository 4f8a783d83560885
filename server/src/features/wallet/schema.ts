import { Money, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { LABEL_KEY, LabelSelector, SELECTOR_WORDS, ShownLabels } from '../labels/schema.ts'
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

export const PRICE_PARTS = ['PLAN', 'WITHOUT_IPV4', 'DAILY_BACKUP', 'NETWORK_10G', 'COPIES'] as const

const transactionFields = {
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
}

export const Transaction = object(transactionFields, { title: 'Transaction' })
export type Transaction = Static<typeof Transaction>

export const TransactionDetail = object(
  {
    ...transactionFields,
    balanceBefore: ShownBalance,
    resource: nullable(
      object(
        {
          id: Type.String(),
          name: Type.String({ description: 'Its present name, or its last' }),
          labels: ShownLabels,
          deleted: Type.Boolean(),
        },
        { description: 'What it was for; null of a payment, and of what was deleted before names were kept' },
      ),
    ),
    action: nullable(
      object(
        { id: Type.String(), action: Type.String(), status: Type.String(), createdAt: Timestamp },
        { description: 'The action of the resource that was under way then; null where there was none, or it is no longer kept' },
      ),
    ),
    priceParts: Type.Array(object({ part: Type.Enum([...PRICE_PARTS]), amount: Money }), {
      description: 'What the price of a month of a VM was made of, together the amount; empty where that is not known',
    }),
  },
  { title: 'TransactionDetail' },
)
export type TransactionDetail = Static<typeof TransactionDetail>

export const CostQuery = {
  month: Type.Optional(
    Type.String({
      pattern: '^20\\d\\d-(0[1-9]|1[0-2])$',
      rule: 'must be a month such as 2027-01',
      description: 'Such as 2027-01, by UTC; the present one unless given',
    }),
  ),
  by: Type.Optional(
    Type.String({
      default: 'resource',
      maxLength: 80,
      pattern: `^(resource|type|project|label:${LABEL_KEY})$`,
      rule: 'must be resource, type, project, or label: and a key, such as label:env',
      description: 'resource: each VM, volume, image and address; type: of the transactions; project; label:env: each value of this label',
    }),
  ),
}

const Cents = (description: string) => Type.String({ description: `${description}: decimal with two places` })
const costFields = {
  charged: Cents('What was charged'),
  refunded: Cents('What was given back of it'),
  amount: Cents('The difference'),
  entries: Type.Integer({ description: 'How many transactions' }),
}

export const Costs = object(
  {
    month: Type.String(),
    currency: Type.String(),
    ...costFields,
    groups: Type.Array(
      object({
        key: nullable(Type.String({ description: 'The id, type or value; null: without the label, or, of projects, the account itself' })),
        name: nullable(Type.String({ description: 'Of a resource or project' })),
        resourceType: nullable(Type.String({ description: 'VM, VOLUME, IMAGE or ADDRESS' })),
        deleted: nullable(Type.Boolean({ description: 'Of a resource: it is no longer there' })),
        ...costFields,
      }),
      { description: 'The largest amount first; at most 1,000' },
    ),
    furtherGroups: nullable(object({ count: Type.Integer(), ...costFields }, { description: 'All beyond the first 1,000 together' })),
  },
  { title: 'Costs', description: 'Of the ledger: the amounts of all groups together are the amount, to the cent' },
)
export type Costs = Static<typeof Costs>

const DATE = 'ISO 8601 date or date-time, UTC unless it says otherwise'

export const TransactionFilter = {
  type: Type.Optional(oneOf([...TRANSACTION_TYPES])),
  dateFrom: Type.Optional(Type.String({ description: `${DATE}; a date means its first moment` })),
  dateTo: Type.Optional(Type.String({ description: `${DATE}; a date means its last moment` })),
  kind: Type.Optional(
    Type.Enum(['COST', 'PAYMENT'], { description: 'COST: what was bought, and refunds of it. PAYMENT: deposits, credits and adjustments' }),
  ),
  referenceId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The id of what it was for, such as a VM; also of one that is deleted' }),
  ),
  projectId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Of this project; none = of the account itself. Within a project it is always that one',
    }),
  ),
  labelSelector: Type.Optional(
    Type.String({ ...LabelSelector, description: `Of what has these labels, or had them when it was deleted, ${SELECTOR_WORDS}` }),
  ),
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
