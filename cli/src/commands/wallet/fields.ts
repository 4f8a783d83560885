import type { Deposit } from '@berth/sdk'
import type { Columns } from '../../answer.ts'
import { time } from '../../format.ts'

export const DEPOSIT_FIELDS: Columns<Deposit> = {
  Id: (deposit) => deposit.id,
  Status: (deposit) => deposit.status,
  Amount: (deposit) => `${deposit.amount} ${deposit.currency}`,
  'Pay at': (deposit) => deposit.checkoutUrl ?? deposit.instructions,
  Refunded: (deposit) => deposit.refunded,
  Created: (deposit) => time(deposit.createdAt),
}
