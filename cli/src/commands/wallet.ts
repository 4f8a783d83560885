import type { Deposit, Query } from '@berth/sdk'
import { record, rows, type Columns } from '../answer.ts'
import { TRANSACTION_COLUMNS } from '../columns.ts'
import { group, verb } from '../command.ts'
import { time } from '../format.ts'
import { given } from '../options.ts'

const DEPOSIT_FIELDS: Columns<Deposit> = {
  Id: (deposit) => deposit.id,
  Status: (deposit) => deposit.status,
  Amount: (deposit) => `${deposit.amount} ${deposit.currency}`,
  'Pay at': (deposit) => deposit.checkoutUrl ?? deposit.instructions,
  Refunded: (deposit) => deposit.refunded,
  Created: (deposit) => time(deposit.createdAt),
}

const show = verb({
  name: 'show',
  about: 'balance, what is due, and how long it lasts',
  example: 'wallet show',
  run: async ({ berth }) =>
    record(
      await berth.wallet.get(),
      {
        Balance: (each) => `${each.balance} ${each.currency}`,
        'Due within 7 days': (each) => `${each.dueNext7Days} ${each.currency}`,
        'Lasts for': (each) => (each.daysLeft === null ? 'nothing renews' : `${each.daysLeft} days`),
      },
      ({ balance }: { balance?: string }) => balance ?? '',
    ),
})

const transactions = verb<{ type?: Query<'listWalletTransactions'>['type']; from?: string; to?: string }>({
  name: 'transactions',
  about: 'every charge, deposit and refund, the newest first',
  options: [
    ['--type <type>', 'such as VM_CHARGE or DEPOSIT'],
    ['--from <date>', 'ISO date or time'],
    ['--to <date>', 'ISO date or time'],
  ],
  example: 'wallet transactions --type VM_CHARGE --from 2027-01-01',
  run: async ({ berth }, { type, from, to }) =>
    rows(await berth.wallet.transactions(given({ type, dateFrom: from, dateTo: to })).all(), TRANSACTION_COLUMNS, 'No money has moved'),
})

const deposit = verb({
  name: 'deposit',
  about: 'put money into the wallet: says how to pay',
  args: '<amount>',
  example: 'wallet deposit 25.00',
  run: async ({ berth }, _, amount: string) => record(await berth.deposits.create({ amount }), DEPOSIT_FIELDS),
})

const deposits = verb({
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

const depositStatus = verb({
  name: 'deposit-status',
  about: 'show a deposit',
  args: '<deposit-id>',
  example: 'wallet deposit-status cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async ({ berth }, _, id: string) => record(await berth.deposits.get(id), DEPOSIT_FIELDS),
})

export const wallet = group('wallet', 'your money', [show, transactions, deposit, deposits, depositStatus])
