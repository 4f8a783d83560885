import { isIP } from 'node:net'
import type { Reach, ReachStep } from '@berth/sdk'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../command-context.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { shellWord } from '../format.ts'
import { parsePacket } from '../options.ts'
import { table, type Columns } from '../result.ts'
import { sanitizeTerminal } from '../style.ts'

const COLUMNS: Columns<ReachStep> = {
  STEP: ({ step }) => (step === 'CLOSED_RANGE' ? 'public network' : step.toLowerCase().replaceAll('_', ' ')),
  PASSES: ({ passes }) => passes,
  DETAIL: ({ detail }) => detail,
}

export const reach = defineCommand<{ protocol?: string; port?: string }>({
  name: 'reach',
  description: 'say whether a VM reaches another VM or an address, and what decides; nothing is sent',
  args: '<vm> <to>',
  options: [
    ['--protocol <protocol>', 'tcp (default), udp, icmp or icmpv6'],
    ['--port <number>', 'destination port'],
  ],
  example: 'vm reach web-1 db-1 --port 5432',
  async run(ctx, { protocol, port }, vm: string, to: string) {
    const packet = parsePacket(protocol, port)
    const [id, target] = await Promise.all([ctx.resolveId('vm', vm), isIP(to) ? to : resolveTarget(ctx, to)])
    const answer = await ctx.berth.vms.checkReach(id, { to: target, ...packet })
    const { verdict, source, destination, applied, steps } = answer
    const lines = [
      `${verdict}: ${vm} (${source.address ?? NO_ADDRESS}) to ${isIP(to) ? to : `${to} (${destination.address ?? NO_ADDRESS})`}`,
      ...MEANINGS[verdict],
      ...(applied ? [] : ['The latest rules are not applied on the hosts yet.']),
      ...steps.flatMap(adviceOf),
    ]
    return {
      data: answer,
      names: [verdict],
      text: (paint) => [table(steps, COLUMNS, '').text(paint), ...lines.map(sanitizeTerminal)].join('\n'),
    }
  },
})

const NO_ADDRESS = 'no address'

const MEANINGS: Record<Reach['verdict'], string[]> = {
  REACHABLE: [],
  FORWARDED: ['It is handed on to a gateway, a next hop or an address that is no VM of yours: whether it is dropped there is not known.'],
  BLOCKED: [],
}

const resolveTarget = (ctx: CommandContext, to: string): Promise<string> =>
  ctx.resolveId('vm', to).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) throw error
    throw new CliError(EXIT.notFound, `${error.message}. An IP address can be given too, such as 10.0.0.5`)
  })

/** With the command that does it, or that shows what is needed for it. */
function adviceOf({ step, passes, remedy, missingPeering }: ReachStep): string[] {
  if (!remedy) return []
  if (missingPeering) return [`${remedy}: berth network peering add ${missingPeering.map(({ name }) => shellWord(name)).join(' ')}`]
  return [step === 'DESTINATION' && !passes ? `${remedy}: berth vm get <vm> shows them.` : `${remedy}.`]
}
