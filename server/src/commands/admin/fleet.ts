import type { Command } from 'commander'
import { getRegion } from '../../features/catalog/service.ts'
import { adminCommand, withCore, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'
import { onlyRegion } from './only-region.ts'

export function fleetCommands(program: Command): void {
  const fleet = program.command('fleet').description('all hosts of a region together')
  adminCommand(
    fleet
      .command('balance')
      .description('move running VMs from the fullest hosts to others, without stopping them')
      .option('--region <slug>', 'required when there are several')
      .option('--limit <number>', 'most VMs to move', '4')
      .option('--dry-run', 'only print what would be moved'),
    'fleet balance --dry-run',
    balance,
  )
}

const NOTHING = 'Nothing to move: the hosts are about equally full, or what fills them fits on no other'

interface BalanceOptions {
  region?: string
  limit: string
  dryRun?: boolean
}

async function balance(admin: Admin, { region: slug, limit, dryRun = false }: BalanceOptions): Promise<Result> {
  const maxMoves = Number(limit)
  if (!(Number.isInteger(maxMoves) && maxMoves >= 1 && maxMoves <= 100)) throw new UsageError('--limit is a whole number from 1 to 100')
  const { previewBalance, startBalance } = await import('../../features/fleet/service.ts')
  const region = await getRegion(admin.db, slug ?? (await onlyRegion(admin.db)))
  if (dryRun) {
    const plan = await previewBalance(admin.db, region, maxMoves)
    const moves = table(plan.moves, ['vmId', 'name', 'from', 'to'], NOTHING)
    const hosts = table(
      plan.hosts.map(({ name, before, after }) => ({ host: name, before: `${before} %`, after: `${after} %` })),
      ['host', 'before', 'after'],
      'No hosts',
    )
    return { data: plan, text: `${moves.text}\n\n${hosts.text}\nNothing was changed` }
  }
  const { started, refused } = await withCore(admin, (deps) => startBalance(deps, region, maxMoves))
  const lines = [
    ...started.map(({ name, vmId, to, actionId }) => `VM ${name} (${vmId}) is being moved to ${to}: action ${actionId}`),
    ...refused.map(({ name, vmId, reason }) => `VM ${name} (${vmId}) stays: ${reason}`),
  ]
  return { data: { started, refused }, text: lines.join('\n') || NOTHING }
}
