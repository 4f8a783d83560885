import type { Deposit } from '@berth/sdk'
import { record, rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'
import { DEPOSIT_FIELDS } from './fields.ts'

export const deposits = verb({
  name: 'deposits',
  about: 'list deposits, the newest first',
  example: 'wallet deposits',
  run: async ({ berth }) =>
    rows(
      await berth.deposits.list().all(),
      {
        ID: (each: Deposit) => each.id,
        STATUS: (each) => each.status,
        AMOUNT: (each) => `${each.amount} ${each.currency}`,
        CREATED: (each) => time(each.createdAt),
      },
      'There is no deposit yet: berth wallet deposit 25.00',
    ),
})

export const depositStatus = verb({
  name: 'deposit-status',
  about: 'show a deposit',
  args: '<deposit-id>',
  example: 'wallet deposit-status cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async ({ berth }, _, id: string) => record(await berth.deposits.get(id), DEPOSIT_FIELDS),
})
