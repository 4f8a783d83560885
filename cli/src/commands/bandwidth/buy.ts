import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { whole } from '../../options.ts'
import { priced } from '../views.ts'

export const buy = verb<{ dryRun?: true }>({
  name: 'buy',
  about: 'buy traffic until the next renewal, in GB (10^9 bytes)',
  args: '<vm> <gigabytes>',
  example: 'bandwidth buy web-1 1000 --dry-run',
  priced: true,
  async run(call, { dryRun }, vm: string, gigabytes: string) {
    const [id, amount] = [await call.id('vm', vm), whole('<gigabytes>', gigabytes)]
    if (dryRun) return priced(await call.berth.bandwidth.quotePack(id, amount))
    const entry = await call.berth.bandwidth.buyPack(id, amount)
    return said(entry, entry.id, `${vm} has ${amount} GB more. Charged ${entry.amount.replace('-', '')}, left ${entry.balanceAfter}`)
  },
})
