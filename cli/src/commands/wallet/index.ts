import { group } from '../../command.ts'
import { deposit } from './deposit.ts'
import { deposits, depositStatus } from './deposits.ts'
import { show } from './show.ts'
import { transactions } from './transactions.ts'

export const wallet = group('wallet', 'your money', [show, transactions, deposit, deposits, depositStatus])
