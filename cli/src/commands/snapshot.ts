import type { Snapshot } from '@berth/sdk'
import { isFree, priceOf, quoteDetails } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { bytes, labelText, time } from '../format.ts'
import { LABEL, labelsOf, omitUndefined, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

const SNAPSHOT_FIELDS: Columns<Snapshot> = {
  Name: (snapshot) => snapshot.name,
  Id: (snapshot) => snapshot.id,
  Status: (snapshot) => snapshot.status,
  Size: (snapshot) => bytes(snapshot.size),
  Description: (snapshot) => snapshot.description,
  Labels: ({ labels }) => labelText(labels) || undefined,
  Created: (snapshot) => time(snapshot.createdAt),
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list the snapshots of a VM',
  args: '<vm>',
  options: [SELECTOR],
  example: 'snapshot list web-1',
  lists: true,
  run: async (ctx, options, vm: string) =>
    table(
      await ctx.list(ctx.berth.snapshots.list(await ctx.resolveId('vm', vm), selectorOf(options))),
      {
        NAME: (each: Snapshot) => each.name,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        CREATED: (each) => time(each.createdAt),
        ID: (each) => each.id,
      },
      `No snapshots yet. Create one: berth snapshot create ${vm} <name>`,
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a snapshot',
  args: '<vm> <snapshot>',
  example: 'snapshot get web-1 before-upgrade',
  async run(ctx, _, vm: string, snapshot: string) {
    const vmId = await ctx.resolveId('vm', vm)
    return details(await ctx.berth.snapshots.get(vmId, await ctx.resolveId('snapshot', snapshot, vmId)), SNAPSHOT_FIELDS)
  },
})

const create = defineCommand<{ description?: string; label?: string[]; dryRun?: true }>({
  name: 'create',
  description: 'create a snapshot',
  args: '<vm> <name>',
  options: [['--description <text>', 'description'], LABEL],
  example: 'snapshot create web-1 before-upgrade',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { description, dryRun, ...options }, vm: string, name: string) {
    const [vmId, body] = [await ctx.resolveId('vm', vm), { name, ...omitUndefined({ description }), ...labelsOf(options) }]
    const quote = () => ctx.berth.snapshots.quoteCreate(vmId, body)
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => {
      const price = await quote()
      return isFree(price) ? undefined : `Creating snapshot ${name} of ${vm} ${priceOf(price)}`
    })
    const started = await ctx.berth.snapshots.create(vmId, body)
    const reload = () => ctx.berth.snapshots.get(started.vmId, started.snapshot.id)
    return ctx.finish(started, `snapshot ${name}`, async () => details(await reload(), SNAPSHOT_FIELDS))
  },
})

const restore = defineCommand({
  name: 'restore',
  description: 'restore a VM from a snapshot; data written since is lost',
  args: '<vm> <snapshot>',
  example: 'snapshot restore web-1 before-upgrade',
  waits: true,
  confirms: true,
  async run(ctx, _, vm: string, snapshot: string) {
    const id = await ctx.resolveId('snapshot', snapshot, await ctx.resolveId('vm', vm))
    await ctx.confirm(`All data that ${vm} has written since will be permanently deleted.`, vm)
    return ctx.changeVm(vm, 'restoring', (berth, vmId) => berth.snapshots.restore(vmId, id))
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a snapshot; the VM is not affected',
  args: '<vm> <snapshot>',
  example: 'snapshot delete web-1 before-upgrade',
  waits: true,
  confirms: true,
  async run(ctx, _, vm: string, snapshot: string) {
    const vmId = await ctx.resolveId('vm', vm)
    const id = await ctx.resolveId('snapshot', snapshot, vmId)
    await ctx.confirm(`Snapshot ${snapshot} of ${vm} will be permanently deleted.`, snapshot)
    const started = await ctx.berth.snapshots.delete(vmId, id)
    return ctx.finish(started, `deleting ${snapshot}`, (action) => message(action, snapshot, `Snapshot ${snapshot} deleted`))
  },
})

export const snapshot = group('snapshot', 'disk snapshots', [list, get, create, restore, remove])
