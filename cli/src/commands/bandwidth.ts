import type { BandwidthUsage } from '@berth/sdk'
import { quoteDetails, TRANSACTION_COLUMNS } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { bytes, time } from '../format.ts'
import { parseInteger } from '../options.ts'
import { message, table } from '../result.ts'

const list = defineCommand({
  name: 'list',
  description: 'what each VM has used of its month',
  example: 'bandwidth list',
  run: async ({ berth }) =>
    table(
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

const packs = defineCommand({
  name: 'packs',
  description: 'packs that were bought for a VM',
  args: '<vm>',
  example: 'bandwidth packs web-1',
  run: async (ctx, _, vm: string) =>
    table(
      await ctx.berth.bandwidth.packs(await ctx.resolveId('vm', vm)).all(),
      TRANSACTION_COLUMNS,
      `There is none yet: berth bandwidth buy ${vm} 1000`,
    ),
})

const buy = defineCommand<{ dryRun?: true }>({
  name: 'buy',
  description: 'buy traffic until the next renewal, in GB (10^9 bytes)',
  args: '<vm> <gigabytes>',
  example: 'bandwidth buy web-1 1000 --dry-run',
  supportsDryRun: true,
  async run(ctx, { dryRun }, vm: string, gigabytes: string) {
    const [id, amount] = [await ctx.resolveId('vm', vm), parseInteger('<gigabytes>', gigabytes)]
    if (dryRun) return quoteDetails(await ctx.berth.bandwidth.quotePack(id, amount))
    const entry = await ctx.berth.bandwidth.buyPack(id, amount)
    return message(entry, entry.id, `${vm} has ${amount} GB more. Charged ${entry.amount.replace('-', '')}, left ${entry.balanceAfter}`)
  },
})

export const bandwidth = group('bandwidth', 'traffic of your VMs', [list, packs, buy])
