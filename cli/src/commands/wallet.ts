import type { Deposit, Query } from '@berth/sdk'
import { TRANSACTION_COLUMNS } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined } from '../options.ts'
import { details, table, type Columns } from '../result.ts'

const DEPOSIT_FIELDS: Columns<Deposit> = {
  Id: (deposit) => deposit.id,
  Status: (deposit) => deposit.status,
  Amount: (deposit) => `${deposit.amount} ${deposit.currency}`,
  'Pay at': (deposit) => deposit.checkoutUrl ?? deposit.instructions,
  Refunded: (deposit) => deposit.refunded,
  Created: (deposit) => time(deposit.createdAt),
}

const show = defineCommand({
  name: 'show',
  description: 'show the balance, upcoming charges and days covered',
  example: 'wallet show',
  run: async ({ berth }) =>
    details(
      await berth.wallet.get(),
      {
        Balance: (each) => `${each.balance} ${each.currency}`,
        'Due within 7 days': (each) => `${each.dueNext7Days} ${each.currency}`,
        Covers: (each) => (each.daysLeft === null ? 'no upcoming renewals' : `${each.daysLeft} days`),
      },
      ({ balance }: { balance?: string }) => balance ?? '',
    ),
})

const transactions = defineCommand<{ type?: Query<'listWalletTransactions'>['type']; from?: string; to?: string; for?: string }>({
  name: 'transactions',
  description: 'list charges, deposits and refunds, newest first',
  options: [
    ['--type <type>', 'such as VM_CHARGE or DEPOSIT'],
    ['--from <date>', 'start, ISO date or time'],
    ['--to <date>', 'end, ISO date or time'],
    ['--for <id>', 'only what was paid for this VM, volume, address or image'],
  ],
  example: 'wallet transactions --type VM_CHARGE --from 2027-01-01',
  lists: true,
  run: async (ctx, { type, from, to, for: referenceId }) =>
    table(
      await ctx.list(ctx.berth.wallet.transactions(omitUndefined({ type, dateFrom: from, dateTo: to, referenceId }))),
      TRANSACTION_COLUMNS,
      'No transactions yet',
    ),
})

const deposit = defineCommand({
  name: 'deposit',
  description: 'add funds; prints payment instructions',
  args: '<amount>',
  example: 'wallet deposit 25.00',
  run: async ({ berth }, _, amount: string) => details(await berth.deposits.create({ amount }), DEPOSIT_FIELDS),
})

const deposits = defineCommand({
  name: 'deposits',
  description: 'list deposits, newest first',
  example: 'wallet deposits',
  lists: true,
  run: async (ctx) =>
    table(
      await ctx.list(ctx.berth.deposits.list()),
      {
        ID: (each: Deposit) => each.id,
        STATUS: (each) => each.status,
        AMOUNT: (each) => `${each.amount} ${each.currency}`,
        CREATED: (each) => time(each.createdAt),
      },
      'No deposits yet. Add funds: berth wallet deposit 25.00',
    ),
})

const depositStatus = defineCommand({
  name: 'deposit-status',
  description: 'show a deposit',
  args: '<deposit-id>',
  example: 'wallet deposit-status cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async ({ berth }, _, id: string) => details(await berth.deposits.get(id), DEPOSIT_FIELDS),
})

export const wallet = group('wallet', 'balance, deposits and transactions', [show, transactions, deposit, deposits, depositStatus])
