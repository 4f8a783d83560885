import { ActionFailedError, type Body, type BulkActionQuote, type BulkActionStarted } from '@berth/sdk'
import type { CommandContext } from '../command-context.ts'
import { balanceText } from '../columns.ts'
import { defineCommand } from '../command.ts'
import { CliError, EXIT, usageError } from '../exit-codes.ts'
import { omitUndefined, SELECTOR } from '../options.ts'
import { table } from '../result.ts'

type Order = Body<'startBulkAction'>

const ACTIONS = ['START', 'STOP', 'RESTART', 'DELETE', 'SNAPSHOT'] as const

export const bulk = defineCommand<{ selector?: string; force?: true; name?: string; dryRun?: true }>({
  name: 'bulk',
  description: 'start, stop, restart, delete or snapshot all VMs with such labels, or those that are named',
  args: '<action> [vm...]',
  options: [SELECTOR, ['--force', 'stop and restart at once instead of shutting down'], ['--name <name>', 'name of the snapshots']],
  example: 'vm bulk stop --selector env=test --dry-run',
  waits: true,
  confirms: true,
  supportsDryRun: true,
  async run(ctx, { selector, force, name, dryRun }, text: string, ...given: string[]) {
    const action = ACTIONS.find((each) => each === text.toUpperCase())
    if (!action) throw usageError(`The action must be start, stop, restart, delete or snapshot, not "${text}"`)
    const names = given.flat()
    if (!selector === (names.length === 0)) throw usageError('Name either VMs, or their labels, such as --selector env=test')
    const vmIds = [...new Set(await Promise.all(names.map((vm) => ctx.resolveId('vm', vm))))]
    const order: Order = { ...(selector ? { labelSelector: selector } : { vmIds }), action, ...omitUndefined({ force, name }) }
    const quote = await ctx.berth.vms.quoteBulk(order)
    if (dryRun) return { ...table(quote.vms, QUOTE_COLUMNS, NONE, vmOf), data: quote, hint: priceOf(quote) }
    await ctx.confirm(
      `${action}: ${
        quote.vms
          .filter(({ error }) => error === null)
          .map(({ vmName }) => vmName)
          .join(', ') || 'no VM'
      }. ${priceOf(quote)}`,
      selector ?? names.join(','),
    )
    const started = await ctx.berth.vms.bulk(order)
    const shown = { ...table(started.vms, STARTED_COLUMNS, NONE, vmOf), data: started }
    if (started.vms.length > 0 && started.vms.every(({ actionId }) => actionId === null))
      return { ...shown, failure: `${action} was refused for every VM${selector === undefined ? '' : ` that ${selector} selects`}` }
    if (ctx.options.wait === false) return { ...shown, hint: 'To follow them: berth action list' }
    await waitForAll(ctx, action, started)
    return shown
  },
})

/** They run at the same time, so that waiting for one after the other takes no longer. One that fails keeps none from being waited for. */
async function waitForAll(ctx: CommandContext, action: Order['action'], { vms }: BulkActionStarted): Promise<void> {
  const failed: string[] = []
  for (const { vmId, vmName, actionId } of vms)
    if (actionId)
      await ctx.waitFor(vmId, actionId, `${action} of ${vmName}`).catch((error: unknown) => {
        if (!(error instanceof ActionFailedError)) throw error
        failed.push(`${vmName}: ${error.message}`)
      })
  if (failed.length > 0) throw new CliError(EXIT.failed, `${action} failed for ${failed.length} of ${vms.length} VMs. ${failed.join('. ')}`)
}

const NONE = 'No VM has such labels'
const vmOf = ({ vmId }: { vmId?: string }): string => vmId ?? ''

const priceOf = ({ started, refused, charge, balanceAfter, currency }: BulkActionQuote): string => {
  const due = charge.startsWith('-') ? `refunds ${charge.slice(1)} ${currency}` : `charges ${charge} ${currency}`
  return `${started} ${started === 1 ? 'VM' : 'VMs'}, ${refused} refused; it ${due}${balanceText({ balanceAfter, currency }, ', and')}.`
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
