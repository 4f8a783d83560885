import type { BandwidthUsage } from '@berth/sdk'
import { priceOf, quoteDetails, TRANSACTION_COLUMNS } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { bytes, time } from '../format.ts'
import { parseInteger } from '../options.ts'
import { message, table } from '../result.ts'

const list = defineCommand({
  name: 'list',
  description: 'list traffic usage of each VM in the current billing period',
  example: 'bandwidth list',
  run: async ({ berth }) =>
    table(
      await berth.bandwidth.list(),
      {
        VM: (each: BandwidthUsage) => each.vmName,
        USED: (each) => bytes(each.usedBytes),
        LIMIT: (each) => bytes(each.capBytes),
        PACKS: (each) => bytes(each.packBytes),
        THROTTLED: (each) => each.throttled,
        'RESETS ON': (each) => time(each.nextRenewalAt),
      },
      'No VMs yet. Create one: berth vm create --help',
      ({ vmName }: { vmName?: string }) => vmName ?? '',
    ),
})

const packs = defineCommand({
  name: 'packs',
  description: 'list the traffic packs of a VM',
  args: '<vm>',
  example: 'bandwidth packs web-1',
  lists: true,
  run: async (ctx, _, vm: string) =>
    table(
      await ctx.list(ctx.berth.bandwidth.packs(await ctx.resolveId('vm', vm))),
      TRANSACTION_COLUMNS,
      `No traffic packs yet. Buy one: berth bandwidth buy ${vm} 1000`,
    ),
})

const buy = defineCommand<{ dryRun?: true }>({
  name: 'buy',
  description: 'buy a traffic pack in GB (10^9 bytes), valid until the next renewal',
  args: '<vm> <gigabytes>',
  example: 'bandwidth buy web-1 1000 --dry-run',
  asks: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, vm: string, gigabytes: string) {
    const [id, amount] = [await ctx.resolveId('vm', vm), parseInteger('<gigabytes>', gigabytes)]
    if (dryRun) return quoteDetails(await ctx.berth.bandwidth.quotePack(id, amount))
    await ctx.ask(async () => `Buying ${amount} GB of traffic for ${vm} ${priceOf(await ctx.berth.bandwidth.quotePack(id, amount))}`)
    const entry = await ctx.berth.bandwidth.buyPack(id, amount)
    return message(
      entry,
      entry.id,
      `Added ${amount} GB to ${vm}. Charged ${entry.amount.replace('-', '')}${entry.balanceAfter === null ? '' : `, balance ${entry.balanceAfter}`}`,
    )
  },
})

export const bandwidth = group('bandwidth', 'traffic usage and traffic packs', [list, packs, buy])
