import type { Costs, Deposit, Query, WalletTimeline } from '@berth/sdk'
import { TRANSACTION_COLUMNS } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { usageError } from '../exit-codes.ts'
import { omitUndefined, parseInteger } from '../options.ts'
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

interface TransactionOptions {
  type?: Query<'listWalletTransactions'>['type']
  from?: string
  to?: string
  kind?: string
  for?: string
  project?: string
  selector?: string
}

const transactions = defineCommand<TransactionOptions>({
  name: 'transactions',
  description: 'list charges, deposits and refunds, newest first',
  options: [
    ['--type <type>', 'such as VM_CHARGE or DEPOSIT'],
    ['--from <date>', 'start, ISO date or time'],
    ['--to <date>', 'end, ISO date or time'],
    ['--kind <kind>', 'cost or payment'],
    ['--for <id>', 'the VM or whatever else it was for; also one that is deleted'],
    ['--project <id>', 'of this project; none = of the account itself'],
    ['--selector <labels>', 'of what has such labels, or had them last'],
  ],
  example: 'wallet transactions --type VM_CHARGE --from 2027-01-01',
  lists: true,
  run: async (ctx, { type, from, to, kind, for: referenceId, project: projectId, selector: labelSelector }) => {
    const query = { type, dateFrom: from, dateTo: to, kind: parseKind(kind), referenceId, projectId, labelSelector }
    return table(await ctx.list(ctx.berth.wallet.transactions(omitUndefined(query))), TRANSACTION_COLUMNS, 'No transactions yet')
  },
})

function parseKind(text: string | undefined): 'COST' | 'PAYMENT' | undefined {
  const kind = text?.toUpperCase()
  if (kind === undefined || kind === 'COST' || kind === 'PAYMENT') return kind
  throw usageError(`--kind must be cost or payment, not "${text}"`)
}

const transaction = defineCommand({
  name: 'transaction',
  description: 'show a transaction with what caused it',
  args: '<transaction-id>',
  example: 'wallet transaction cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async ({ berth }, _, id: string) =>
    details(await berth.wallet.transaction(id), {
      Id: (each) => each.id,
      Time: (each) => time(each.createdAt),
      Type: (each) => each.type,
      Description: (each) => each.description,
      Amount: (each) => each.amount,
      'Balance before': (each) => each.balanceBefore,
      'Balance after': (each) => each.balanceAfter,
      For: (each) => (each.resource ? `${each.resource.name} (${each.referenceId})` : each.referenceId),
      Action: (each) => (each.action ? `${each.action.action} ${each.action.id}` : ''),
      Parts: (each) => each.priceParts.map(({ part, amount }) => `${part} ${amount}`).join(', '),
      Project: (each) => each.project?.name,
    }),
})

type Group = Costs['groups'][number]

const costs = defineCommand<{ month?: string; by?: string }>({
  name: 'costs',
  description: 'show what a month has cost, by VM, type, project or label',
  options: [
    ['--month <month>', 'such as 2027-01; default: the present one'],
    ['--by <what>', 'resource, type, project, or a label such as label:env; default: resource'],
  ],
  example: 'wallet costs --month 2027-01 --by label:env',
  async run({ berth }, { month, by }) {
    const found = await berth.wallet.costs(omitUndefined({ month, by }))
    const shown = table(found.groups, COST_COLUMNS, `No costs in ${found.month}`, ({ key }: { key?: string | null }) => key ?? '-')
    return { ...shown, data: found, hint: `${found.month}: ${found.amount} ${found.currency}` }
  },
})

const COST_COLUMNS: Columns<Group> = {
  FOR: (each) => each.name ?? each.key ?? '-',
  CHARGED: (each) => each.charged,
  REFUNDED: (each) => each.refunded,
  COST: (each) => each.amount,
  ENTRIES: (each) => each.entries,
  ID: (each) => (each.name === null ? '' : each.key),
}

const forecast = defineCommand<{ days?: string }>({
  name: 'forecast',
  description: 'show the renewals to come and the balance that they leave',
  options: [['--days <days>', 'how far ahead, 1-366; default: 90']],
  example: 'wallet forecast --days 30',
  async run({ berth }, { days }) {
    const timeline = await berth.wallet.timeline(omitUndefined({ days: days === undefined ? undefined : parseInteger('--days', days) }))
    const due = timeline.upcoming.filter(({ charge }) => Number(charge) !== 0)
    const columns: Columns<WalletTimeline['upcoming'][number]> = {
      DATE: (each) => each.date,
      RENEWALS: (each) => each.charge,
      BALANCE: (each) => each.balance,
    }
    const hint = `Now ${timeline.balance} ${timeline.currency}, ${timeline.monthly} a month`
    return { ...table(due, columns, 'Nothing renews', ({ date }: { date?: string }) => date ?? ''), data: timeline, hint }
  },
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

export const wallet = group('wallet', 'balance, deposits and transactions', [
  show,
  transactions,
  transaction,
  costs,
  forecast,
  deposit,
  deposits,
  depositStatus,
])
