import type { Body, BulkActionQuote, BulkActionStarted } from '@berth/sdk'
import { defineCommand } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { omitUndefined, SELECTOR } from '../options.ts'
import { table } from '../result.ts'

type Order = Body<'startBulkAction'>

const ACTIONS = ['START', 'STOP', 'RESTART', 'DELETE', 'SNAPSHOT'] as const

export const bulk = defineCommand<{ selector?: string; force?: true; name?: string; dryRun?: true }>({
  name: 'bulk',
  description: 'start, stop, restart, delete or snapshot all VMs with such labels',
  args: '<action>',
  options: [SELECTOR, ['--force', 'stop and restart at once instead of shutting down'], ['--name <name>', 'name of the snapshots']],
  example: 'vm bulk stop --selector env=test --dry-run',
  confirms: true,
  supportsDryRun: true,
  async run(ctx, { selector, force, name, dryRun }, text: string) {
    const action = ACTIONS.find((each) => each === text.toUpperCase())
    if (!action) throw usageError(`The action must be start, stop, restart, delete or snapshot, not "${text}"`)
    if (!selector) throw usageError('--selector is required, such as --selector env=test')
    const order: Order = { labelSelector: selector, action, ...omitUndefined({ force, name }) }
    const quote = await ctx.berth.vms.quoteBulk(order)
    if (dryRun) return { ...table(quote.vms, QUOTE_COLUMNS, NONE, vmOf), data: quote, hint: priceOf(quote) }
    await ctx.confirm(
      `${action}: ${
        quote.vms
          .filter(({ error }) => error === null)
          .map(({ vmName }) => vmName)
          .join(', ') || 'no VM'
      }. ${priceOf(quote)}`,
      selector,
    )
    const started = await ctx.berth.vms.bulk(order)
    return { ...table(started.vms, STARTED_COLUMNS, NONE, vmOf), data: started, hint: 'To follow them: berth action list' }
  },
})

const NONE = 'No VM has such labels'
const vmOf = ({ vmId }: { vmId?: string }): string => vmId ?? ''

const priceOf = ({ started, refused, charge, balanceAfter, currency }: BulkActionQuote): string => {
  const due = charge.startsWith('-') ? `refunds ${charge.slice(1)} ${currency}` : `charges ${charge} ${currency}`
  return `${started} VMs, ${refused} refused; it ${due}, and the balance is ${balanceAfter} ${currency} afterwards.`
}

const QUOTE_COLUMNS = {
  VM: (each: BulkActionQuote['vms'][number]) => each.vmName,
  CHARGE: (each: BulkActionQuote['vms'][number]) => each.charge,
  REFUSED: (each: BulkActionQuote['vms'][number]) => each.error,
}

const STARTED_COLUMNS = {
  VM: (each: BulkActionStarted['vms'][number]) => each.vmName,
  ACTION: (each: BulkActionStarted['vms'][number]) => each.actionId,
  REFUSED: (each: BulkActionStarted['vms'][number]) => each.error,
}
