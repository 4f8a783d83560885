import type { Query } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given } from '../../options.ts'
import { TRANSACTION_COLUMNS } from '../views.ts'

export const transactions = verb<{ type?: Query<'listWalletTransactions'>['type']; from?: string; to?: string }>({
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
