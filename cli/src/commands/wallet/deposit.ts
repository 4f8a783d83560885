import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { DEPOSIT_FIELDS } from './fields.ts'

export const deposit = verb({
  name: 'deposit',
  about: 'put money into the wallet: says how to pay',
  args: '<amount>',
  example: 'wallet deposit 25.00',
  run: async ({ berth }, _, amount: string) => record(await berth.deposits.create({ amount }), DEPOSIT_FIELDS),
})
