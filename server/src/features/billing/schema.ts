import { Money, object, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { VmEventData } from '../vms/schema.ts'
import { EventWallet } from '../wallet/schema.ts'

export const TimelineQuery = {
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 366, default: 90, description: 'How far back and ahead' })),
}

const Day = Type.String({ description: 'Such as 2027-01-31, of UTC' })

export const WalletTimeline = object(
  {
    currency: Type.String(),
    balance: Money,
    monthly: Type.String({ description: 'What all that renews costs a month: decimal with two places' }),
    past: Type.Array(
      object({ date: Day, balance: Type.String({ description: 'At the end of the day; of the last one, today, as it is now' }) }),
      {
        description: 'Each day, the oldest first',
      },
    ),
    upcoming: Type.Array(
      object({
        date: Day,
        charge: Type.String({ description: 'What renews on this day' }),
        balance: Type.String({ description: 'What would be left after it, below zero where it is not covered' }),
      }),
      { description: 'Each day from today on' },
    ),
  },
  { title: 'WalletTimeline', description: 'The upcoming days are what they are if nothing is bought, deleted or deposited' },
)
export type WalletTimeline = Static<typeof WalletTimeline>

export const billingEvents = {
  'vm.renewed': defineEvent(VmEventData, 'The next month of the VM was charged'),
  'vm.past_due': defineEvent(VmEventData, 'The wallet did not cover the renewal: the VM will be suspended'),
  'billing.low_balance': defineEvent(
    object(
      {
        transaction: Type.Null(),
        wallet: EventWallet,
        dueNext7Days: Type.String({ description: 'What renewals will charge within 7 days: decimal with two places' }),
      },
      { title: 'LowBalanceEventData' },
    ),
    'The wallet does not cover the renewals of the next 7 days; at most once a day',
  ),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof billingEvents> {}
}
