import { object, Type } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { VmEventData } from '../vms/schema.ts'
import { EventWallet } from '../wallet/schema.ts'

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
