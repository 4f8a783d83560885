import type { Volume } from '@berth/sdk'
import { isFree, priceOf, quoteDetails } from '../columns.ts'
import type { CommandContext } from '../command-context.ts'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { labelText, time } from '../format.ts'
import { LABEL, omitUndefined, parseInteger, parseLabels, parseOnOff, requireChanges, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns, type CommandResult } from '../result.ts'
import { finishOnVolume, volumeSnapshot } from './volume-snapshot.ts'

const VOLUME_FIELDS: Columns<Volume> = {
  Name: (volume) => volume.name,
  Id: (volume) => volume.id,
  Status: (volume) => volume.status,
  Size: (volume) => `${volume.sizeGiB} GiB`,
  Storage: (volume) => volume.storage,
  Region: (volume) => volume.region.name,
  VM: (volume) => volume.vmId,
  'In the guest': (volume) => volume.devicePath,
  Labels: (volume) => labelText(volume.labels) || null,
  Protected: (volume) => (volume.isProtected ? 'yes' : 'no'),
  'Price a month': (volume) => volume.billing.priceMonthly,
  Billing: (volume) => volume.billing.status,
  'Next renewal': (volume) => time(volume.billing.nextRenewalAt),
  Created: (volume) => time(volume.createdAt),
}

async function volumeDetails(ctx: CommandContext, volume: Volume): Promise<CommandResult> {
  const nameOf = await ctx.vmNames([volume])
  return details(volume, { ...VOLUME_FIELDS, VM: ({ vmId }) => vmId && nameOf(vmId) })
}

/** Of a volume whose answer may name an action that is still running. */
const finished = (ctx: CommandContext, volume: Volume, label: string): Promise<CommandResult> =>
  volume.currentAction === null
    ? volumeDetails(ctx, volume)
    : finishOnVolume(ctx, volume, volume.currentAction.id, label, async () => volumeDetails(ctx, await ctx.berth.volumes.get(volume.id)))

const list = defineCommand<{ region?: string; vm?: string; selector?: string }>({
  name: 'list',
  description: 'list volumes',
  options: [['--region <region>', 'only those of this region'], ['--vm <vm>', 'only those of this VM'], SELECTOR],
  example: 'volume list --vm web-1',
  lists: true,
  async run(ctx, { region, vm, ...options }) {
    const regionId = region === undefined ? undefined : await ctx.resolveId('region', region)
    const vmId = vm === undefined ? undefined : await ctx.resolveId('vm', vm)
    const volumes = await ctx.list(ctx.berth.volumes.list({ ...omitUndefined({ regionId, vmId }), ...selectorOf(options) }))
    const nameOf = await ctx.vmNames(volumes)
    return table(
      volumes,
      {
        NAME: (each: Volume) => each.name,
        SIZE: (each) => `${each.sizeGiB} GiB`,
        STORAGE: (each) => each.storage,
        REGION: (each) => each.region.slug,
        STATUS: (each) => each.status,
        VM: (each) => each.vmId && nameOf(each.vmId),
        BILLING: (each) => each.billing.status,
      },
      'No volumes yet. Create one: berth volume create --help',
    )
  },
})

const get = defineCommand({
  name: 'get',
  description: 'show a volume',
  args: '<volume>',
  example: 'volume get data',
  run: async (ctx, _, volume: string) => volumeDetails(ctx, await ctx.berth.volumes.get(await ctx.resolveId('volume', volume))),
})

interface CreateOptions {
  size?: string
  region?: string
  vm?: string
  snapshot?: string
  storage?: string
  label?: string[]
  protect?: true
  dryRun?: true
}

const create = defineCommand<CreateOptions>({
  name: 'create',
  description: 'create a disk that can move between VMs',
  args: '<name>',
  options: [
    ['--size <GiB>', 'its size (required)'],
    ['--region <region>', 'region whose VMs can have it; default: that of the VM, or the only available one'],
    ['--vm <vm>', 'attach it to this VM at once'],
    ['--snapshot <snapshot>', 'begin with the data of a snapshot: <volume>/<snapshot>, or its id'],
    ['--storage <kind>', 'local or replicated; default: replicated where the region has it'],
    LABEL,
    ['--protect', 'refuse to delete it'],
  ],
  example: 'volume create data --size 100 --vm web-1',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { size, region, vm, snapshot, storage, label, protect, dryRun }, name: string) {
    if (!size) throw usageError('--size is required, in GiB')
    const of = vm === undefined ? undefined : await ctx.getVm(vm)
    const order = {
      name,
      sizeGiB: parseInteger('--size', size),
      regionId: await ctx.resolveRegionId(region ?? of?.region.slug),
      ...(of && { vmId: of.id }),
      ...(snapshot !== undefined && { snapshotId: await snapshotId(ctx, snapshot) }),
      ...(storage !== undefined && { storage: storage.toUpperCase() as Volume['storage'] }),
      ...omitUndefined({ labels: parseLabels(label), isProtected: protect }),
    }
    if (dryRun) return quoteDetails(await ctx.berth.volumes.quoteCreate(order))
    await ctx.ask(async () => `Creating volume ${name} ${priceOf(await ctx.berth.volumes.quoteCreate(order))}`)
    const created = await finished(
      ctx,
      await ctx.berth.volumes.create(order),
      `${snapshot === undefined ? 'attaching' : 'creating'} ${name}`,
    )
    if (!of) return { ...created, hint: `To attach it: berth volume attach ${name} <vm>` }
    return snapshot === undefined ? { ...created, hint: 'It is empty: make a filesystem on it in the guest, with mkfs.ext4' } : created
  },
})

async function snapshotId(ctx: CommandContext, text: string): Promise<string> {
  const [of = '', ...rest] = text.split('/')
  if (rest.length === 0) return ctx.resolveId('volume-snapshot', text)
  return ctx.resolveId('volume-snapshot', rest.join('/'), await ctx.resolveId('volume', of))
}

const update = defineCommand<{ name?: string; label?: string[]; protect?: string }>({
  name: 'update',
  description: 'rename, label or protect a volume',
  args: '<volume>',
  options: [['--name <name>', 'its name'], LABEL, ['--protect <on|off>', 'whether it can be deleted']],
  example: 'volume update data --protect on',
  async run(ctx, { name, label, protect }, volume: string) {
    const fields = { name, labels: parseLabels(label), isProtected: parseOnOff('--protect', protect) }
    const change = requireChanges(omitUndefined(fields), '--name, --label, --protect')
    return volumeDetails(ctx, await ctx.berth.volumes.update(await ctx.resolveId('volume', volume), change))
  },
})

const grow = defineCommand<{ dryRun?: true }>({
  name: 'grow',
  description: 'make a volume larger, live where its VM runs',
  args: '<volume> <GiB>',
  example: 'volume grow data 200',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, volume: string, size: string) {
    const [id, change] = [await ctx.resolveId('volume', volume), { sizeGiB: parseInteger('GiB', size) }]
    const quote = () => ctx.berth.volumes.quoteUpdate(id, change)
    if (dryRun) return quoteDetails(await quote())
    await ctx.ask(async () => {
      const price = await quote()
      return isFree(price) ? undefined : `Growing volume ${volume} ${priceOf(price)}`
    })
    const grown = await ctx.berth.volumes.update(id, change)
    const shown = await finished(ctx, grown, `growing ${volume}`)
    return grown.vmId === null ? shown : { ...shown, hint: `Grow its filesystem in the guest: resize2fs ${grown.devicePath}` }
  },
})

const attach = defineCommand({
  name: 'attach',
  description: 'attach a volume to a VM, without a reboot',
  args: '<volume> <vm>',
  example: 'volume attach data web-2',
  waits: true,
  async run(ctx, _, volume: string, vm: string) {
    const id = await ctx.resolveId('volume', volume)
    const started = await ctx.berth.volumes.attach(id, { vmId: await ctx.resolveId('vm', vm) })
    return ctx.finish(started, `attaching ${volume} to ${vm}`, async () => {
      const now = await ctx.berth.volumes.get(id)
      return message(now, now.name, `${now.name} is attached to ${vm}: ${now.devicePath}`)
    })
  },
})

const detach = defineCommand({
  name: 'detach',
  description: 'detach a volume from its VM; unmount it in the guest first',
  args: '<volume>',
  example: 'volume detach data',
  waits: true,
  async run(ctx, _, volume: string) {
    const id = await ctx.resolveId('volume', volume)
    return ctx.finish(await ctx.berth.volumes.detach(id), `detaching ${volume}`, async () => {
      const now = await ctx.berth.volumes.get(id)
      return message(now, now.name, `${now.name} is detached`)
    })
  },
})

const remove = defineCommand<{ dryRun?: true }>({
  name: 'delete',
  description: 'delete a detached volume with its data and snapshots; unused days are refunded',
  args: '<volume>',
  example: 'volume delete data',
  confirms: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, volume: string) {
    const id = await ctx.resolveId('volume', volume)
    if (dryRun) return quoteDetails(await ctx.berth.volumes.quoteDelete(id))
    await ctx.confirm(`Volume ${volume}, all data on it and its snapshots will be deleted.`, volume)
    return message(await ctx.berth.volumes.delete(id), volume, `Volume ${volume} deleted`)
  },
})

export const volume = group('volume', 'disks that move between your VMs', [
  list,
  get,
  create,
  update,
  grow,
  attach,
  detach,
  remove,
  volumeSnapshot,
])
