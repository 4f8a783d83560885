import type { BandwidthUsage } from '@berth/sdk'
import { rows, said } from '../answer.ts'
import { priced, TRANSACTION_COLUMNS } from '../columns.ts'
import { group, verb } from '../command.ts'
import { bytes, time } from '../format.ts'
import { whole } from '../options.ts'

const list = verb({
  name: 'list',
  about: 'what each VM has used of its month',
  example: 'bandwidth list',
  run: async ({ berth }) =>
    rows(
      await berth.bandwidth.list(),
      {
        VM: (each: BandwidthUsage) => each.vmName,
        USED: (each) => bytes(each.usedBytes),
        OF: (each) => bytes(each.capBytes),
        PACKS: (each) => bytes(each.packBytes),
        THROTTLED: (each) => each.throttled,
        UNTIL: (each) => time(each.nextRenewalAt),
      },
      'There is no VM yet: berth vm create --help',
      ({ vmName }: { vmName?: string }) => vmName ?? '',
    ),
})

const packs = verb({
  name: 'packs',
  about: 'packs that were bought for a VM',
  args: '<vm>',
  example: 'bandwidth packs web-1',
  run: async (call, _, vm: string) =>
    rows(
      await call.berth.bandwidth.packs(await call.id('vm', vm)).all(),
      TRANSACTION_COLUMNS,
      `There is none yet: berth bandwidth buy ${vm} 1000`,
    ),
})

const buy = verb<{ dryRun?: true }>({
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

export const bandwidth = group('bandwidth', 'traffic of your VMs', [list, packs, buy])
