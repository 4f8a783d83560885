import type { Volume, VolumeSnapshot } from '@berth/sdk'
import { isFree, priceOf, quoteDetails } from '../columns.ts'
import { sleep, type CommandContext } from '../command-context.ts'
import { defineCommand, group } from '../command.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { bytes, labelText, time } from '../format.ts'
import { LABEL, labelsOf, omitUndefined, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns, type CommandResult } from '../result.ts'

const SNAPSHOT_FIELDS: Columns<VolumeSnapshot> = {
  Name: (snapshot) => snapshot.name,
  Id: (snapshot) => snapshot.id,
  Status: (snapshot) => snapshot.status,
  Size: (snapshot) => bytes(snapshot.size),
  Description: (snapshot) => snapshot.description,
  Labels: ({ labels }) => labelText(labels) || undefined,
  Created: (snapshot) => time(snapshot.createdAt),
}

const POLL_MS = 1_000

/** An action of the VM that has the volume is awaited there; of a detached volume, as long as it says that the action runs. */
export async function finishOnVolume(
  ctx: CommandContext,
  { id, vmId }: Volume,
  actionId: string,
  label: string,
  done: () => Promise<CommandResult>,
): Promise<CommandResult> {
  if (vmId !== null) return ctx.finish({ vmId, actionId }, label, done)
  if (ctx.options.wait === false) return message({ actionId }, actionId, `Action ${actionId} started. To look: berth volume get ${id}`)
  const { timeout = Infinity } = ctx.options
  const again = `The action continues. To look: berth volume get ${id}`
  await ctx.showing(label, again, async (signal) => {
    for (let waitedMs = 0; (await ctx.berth.volumes.get(id)).currentAction?.id === actionId; waitedMs += POLL_MS) {
      if (waitedMs >= timeout * 1_000) throw new CliError(EXIT.timeout, again)
      await sleep(POLL_MS, signal)
    }
  })
  const { items } = await ctx.berth.actions.list({ status: 'FAILED' }).page()
  const failed = items.find((action) => action.id === actionId)
  if (failed) throw new CliError(EXIT.failed, `${label} failed: ${failed.error}`)
  return done()
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list the snapshots of a volume',
  args: '<volume>',
  options: [SELECTOR],
  example: 'volume snapshot list data',
  lists: true,
  run: async (ctx, options, volume: string) =>
    table(
      await ctx.list(ctx.berth.volumeSnapshots.list(await ctx.resolveId('volume', volume), selectorOf(options))),
      {
        NAME: (each: VolumeSnapshot) => each.name,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        CREATED: (each) => time(each.createdAt),
        ID: (each) => each.id,
      },
      `No snapshots yet. Create one: berth volume snapshot create ${volume} <name>`,
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a snapshot of a volume',
  args: '<volume> <volume-snapshot>',
  example: 'volume snapshot get data before-upgrade',
  async run(ctx, _, volume: string, snapshot: string) {
    const volumeId = await ctx.resolveId('volume', volume)
    const id = await ctx.resolveId('volume-snapshot', snapshot, volumeId)
    return details(await ctx.berth.volumeSnapshots.get(volumeId, id), SNAPSHOT_FIELDS)
  },
})

const create = defineCommand<{ description?: string; label?: string[]; dryRun?: true }>({
  name: 'create',
  description: 'create a snapshot of a volume, attached or not',
  args: '<volume> <name>',
  options: [['--description <text>', 'description'], LABEL],
  example: 'volume snapshot create data before-upgrade',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { description, dryRun, ...options }, volume: string, name: string) {
    const found = await ctx.berth.volumes.get(await ctx.resolveId('volume', volume))
    const body = { name, ...omitUndefined({ description }), ...labelsOf(options) }
    const quote = () => ctx.berth.volumeSnapshots.quoteCreate(found.id, body)
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => {
      const price = await quote()
      return isFree(price) ? undefined : `Creating snapshot ${name} of ${volume} ${priceOf(price)}`
    })
    const started = await ctx.berth.volumeSnapshots.create(found.id, body)
    return finishOnVolume(ctx, found, started.actionId, `snapshot ${name}`, async () =>
      details(await ctx.berth.volumeSnapshots.get(found.id, started.snapshot.id), SNAPSHOT_FIELDS),
    )
  },
})

const restore = defineCommand({
  name: 'restore',
  description: 'restore a detached volume from a snapshot; data written since is lost',
  args: '<volume> <volume-snapshot>',
  example: 'volume snapshot restore data before-upgrade',
  waits: true,
  confirms: true,
  async run(ctx, _, volume: string, snapshot: string) {
    const found = await ctx.berth.volumes.get(await ctx.resolveId('volume', volume))
    const id = await ctx.resolveId('volume-snapshot', snapshot, found.id)
    await ctx.confirm(`All data written to ${volume} since will be permanently deleted.`, volume)
    const { actionId } = await ctx.berth.volumeSnapshots.restore(found.id, id)
    return finishOnVolume(ctx, found, actionId, `restoring ${volume}`, async () =>
      message({ actionId }, found.name, `${found.name} is restored from ${snapshot}`),
    )
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a snapshot; the volume is not affected',
  args: '<volume> <volume-snapshot>',
  example: 'volume snapshot delete data before-upgrade',
  waits: true,
  confirms: true,
  async run(ctx, _, volume: string, snapshot: string) {
    const found = await ctx.berth.volumes.get(await ctx.resolveId('volume', volume))
    const id = await ctx.resolveId('volume-snapshot', snapshot, found.id)
    await ctx.confirm(`Snapshot ${snapshot} of ${volume} will be permanently deleted.`, snapshot)
    const { actionId } = await ctx.berth.volumeSnapshots.delete(found.id, id)
    return finishOnVolume(ctx, found, actionId, `deleting ${snapshot}`, async () =>
      message({ actionId }, snapshot, `Snapshot ${snapshot} deleted`),
    )
  },
})

export const volumeSnapshot = group('snapshot', 'snapshots of a volume', [list, get, create, restore, remove])
