import type { ResizeQuote } from '@berth/sdk'
import { priceOf, quoteDetails } from '../columns.ts'
import { defineCommand } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { omitUndefined, parseInteger } from '../options.ts'
import { CUSTOM_SIZE, customSize, type CustomSize } from './vm-create.ts'

/** As part of a question. */
const effectOf = (quote: ResizeQuote): string =>
  `${quote.restarts ? 'shuts it down and starts it again' : 'keeps it running'}, and ${priceOf(quote)}`

export const upgrade = defineCommand<CustomSize & { plan?: string; dryRun?: true }>({
  name: 'upgrade',
  description: 'upgrade a VM to a larger plan or custom size',
  args: '<vm>',
  options: [['--plan <plan>', 'new plan; see berth plan list'], ...CUSTOM_SIZE],
  example: 'vm upgrade web-1 --plan large',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { plan, dryRun, ...size }, vm: string) {
    const customConfig = customSize(size)
    if (!plan === !customConfig) throw usageError('--plan is required, such as --plan large; see berth plan list. Or give a custom size')
    const to = customConfig ? { customConfig } : { planId: await ctx.resolveId('plan', plan!) }
    const quote = async () => ctx.berth.vms.quoteUpgrade(await ctx.resolveId('vm', vm), to)
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => `Upgrading ${vm} to ${plan ?? 'this size'} ${effectOf(await quote())}`)
    return ctx.changeVm(vm, 'upgrading', (berth, id) => berth.vms.upgrade(id, to))
  },
})

export const resize = defineCommand<CustomSize & { plan?: string; dryRun?: true }>({
  name: 'resize',
  description: 'change the size of a VM, up or down: a plan, a custom size, or a larger disk alone',
  args: '<vm>',
  options: [
    ['--plan <plan>', 'new plan; see berth plan list'],
    ['--vcpu <number>', 'custom size instead of a plan; requires --ram and --disk'],
    ['--ram <MiB>', 'memory of a custom size'],
    ['--disk <GiB>', 'disk of a custom size; alone, or with --plan: a larger disk'],
    ...CUSTOM_SIZE.slice(3),
  ],
  example: 'vm resize web-1 --disk 80',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { plan, dryRun, disk, vcpu, ram, bandwidth, networkSpeed }, vm: string) {
    const isCustom = [vcpu, ram, bandwidth, networkSpeed].some((each) => each !== undefined)
    if (plan && isCustom) throw usageError('Give either --plan or a custom size, not both')
    if (!plan && !isCustom && !disk) throw usageError('Give --plan, --disk or a custom size, such as --plan small; see berth plan list')
    const to = isCustom
      ? omitUndefined({ customConfig: customSize(omitUndefined({ vcpu, ram, disk, bandwidth, networkSpeed })) })
      : omitUndefined({ planId: plan && (await ctx.resolveId('plan', plan)), disk: disk ? parseInteger('--disk', disk) : undefined })
    const quote = async () => ctx.berth.vms.quoteResize(await ctx.resolveId('vm', vm), to)
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => `Resizing ${vm} ${effectOf(await quote())}`)
    return ctx.changeVm(vm, 'resizing', (berth, id) => berth.vms.resize(id, to))
  },
})
