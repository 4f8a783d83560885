import type { Image } from '@berth/sdk'
import { isFree, priceOf, quoteDetails } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { sleep, type CommandContext } from '../command-context.ts'
import { CliError, EXIT, usageError } from '../exit-codes.ts'
import { bytes, time } from '../format.ts'
import { LABEL, omitUndefined, parseLabels, parseOnOff, requireChanges, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns, type CommandResult } from '../result.ts'

const IMAGE_FIELDS: Columns<Image> = {
  Name: (image) => image.name,
  Id: (image) => image.id,
  Kind: (image) => image.kind,
  Status: (image) => image.status,
  Error: (image) => image.error,
  'Locked until': (image) => image.lockedUntil && time(image.lockedUntil),
  Labels: (image) => Object.entries(image.labels).map(([name, value]) => `${name}=${String(value)}`),
  Source: ({ source }) => source.url ?? source.type,
  Size: (image) => bytes(image.size),
  Disk: (image) => (image.disk === null ? undefined : `${image.disk} GiB`),
  Architecture: (image) => image.arch,
  User: (image) => image.defaultUser,
  Consistency: (image) => image.consistency,
  Checksum: (image) => image.checksum,
  Protected: (image) => (image.isProtected ? 'yes' : 'no'),
  'Price a month': (image) => image.billing?.priceMonthly,
  Billing: (image) => image.billing?.status,
  'Next renewal': (image) => image.billing && time(image.billing.nextRenewalAt),
  Created: (image) => time(image.createdAt),
}

async function imageDetails(ctx: CommandContext, image: Image): Promise<CommandResult> {
  const nameOf = await ctx.vmNames([image.source])
  const sourceOf = ({ source: { type, url, vmId } }: Image) =>
    url ?? (vmId === null ? type : type === 'VM' ? `VM ${nameOf(vmId)}` : `${type} of VM ${nameOf(vmId)}`)
  return details(image, { ...IMAGE_FIELDS, Source: sourceOf })
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list own images',
  options: [SELECTOR],
  example: 'image list',
  lists: true,
  run: async (ctx, options) =>
    table(
      await ctx.list(ctx.berth.images.list(selectorOf(options))),
      {
        NAME: (each: Image) => each.name,
        KIND: (each) => each.kind,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        DISK: (each) => each.disk && `${each.disk} GiB`,
        CREATED: (each) => time(each.createdAt),
        ID: (each) => each.id,
      },
      'No images yet. Make one: berth image create --help',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show an image',
  args: '<image>',
  example: 'image get golden',
  run: async (ctx, _, image: string) => imageDetails(ctx, await ctx.berth.images.get(await ctx.resolveId('image', image))),
})

interface CreateOptions {
  vm?: string
  snapshot?: string
  backup?: string
  url?: string
  checksum?: string
  iso?: true
  arch?: 'x86_64' | 'aarch64'
  user?: string
  agent?: true
  label?: string[]
  dryRun?: true
}

const create = defineCommand<CreateOptions>({
  name: 'create',
  description: 'make an image of a VM, a snapshot or a backup, or import one',
  args: '<name>',
  options: [
    ['--vm <vm>', 'of this VM as it is now'],
    ['--snapshot <snapshot>', 'of a snapshot: <vm>/<snapshot>, or its id'],
    ['--backup <backup>', 'of a backup: <vm>/<backup>, or its id'],
    ['--url <url>', 'import this file: a qcow2 or raw disk, or an ISO image'],
    ['--checksum <checksum>', 'of the file at the URL: sha256:…'],
    ['--iso', 'the file is an ISO image'],
    ['--arch <arch>', 'of the system on an imported disk: x86_64 or aarch64'],
    ['--user <user>', 'who gets SSH keys and password on an imported disk; default: root'],
    ['--agent', 'the imported disk runs the QEMU guest agent'],
    LABEL,
  ],
  example: 'image create golden --vm web-1',
  waits: true,
  asks: true,
  supportsDryRun: true,
  async run(ctx, options, name: string) {
    const body = { name, ...(await sourceOf(ctx, options)), ...omitUndefined({ labels: parseLabels(options.label) }) }
    const isImport = options.url !== undefined
    if (options.dryRun)
      return {
        ...quoteDetails(await ctx.berth.images.quoteCreate(body)),
        hint: isImport
          ? 'This is the price of one GiB: the image is charged by its size, once it is there'
          : 'This is the most it can cost: the image is charged by its size, once it is made',
      }
    await ctx.ask(async () => {
      const quote = await ctx.berth.images.quoteCreate(body)
      return isFree(quote) ? undefined : `${isImport ? 'Each GiB of the image' : 'An image of this size at most'} ${priceOf(quote)}`
    })
    const started = await ctx.berth.images.create(body)
    if (ctx.options.wait === false)
      return message(started, started.image.id, `Image ${name} is being made. To look: berth image get ${started.image.id}`)
    return imageDetails(ctx, await waitForImage(ctx, started.image))
  },
})

const POLL_MS = 1_000

function waitForImage(ctx: CommandContext, started: Image): Promise<Image> {
  const { timeout = Infinity } = ctx.options
  const again = `The image is still being made. To look: berth image get ${started.id}`
  return ctx.showing(`making image ${started.name}`, again, async (signal) => {
    for (let image = started, waitedMs = 0; ; waitedMs += POLL_MS, image = await ctx.berth.images.get(started.id)) {
      if (image.status === 'FAILED') throw new CliError(EXIT.failed, `Image ${image.name} could not be made: ${image.error}`)
      if (image.status !== 'CREATING') return image
      if (waitedMs >= timeout * 1_000) throw new CliError(EXIT.timeout, again)
      await sleep(POLL_MS, signal)
    }
  })
}

async function sourceOf(ctx: CommandContext, { vm, snapshot, backup, url, checksum, iso, arch, user, agent }: CreateOptions) {
  const given = [vm, snapshot, backup, url].filter((each) => each !== undefined)
  if (given.length !== 1) throw usageError('give one of --vm, --snapshot, --backup and --url')
  if (vm !== undefined) return { vmId: await ctx.resolveId('vm', vm) }
  if (snapshot !== undefined) return { snapshotId: await copyId(ctx, 'snapshot', snapshot) }
  if (backup !== undefined) return { backupId: await copyId(ctx, 'backup', backup) }
  if (checksum === undefined) throw usageError('--checksum is required with --url')
  const kind = iso && ('ISO' as const)
  return { url: url!, checksum, ...omitUndefined({ kind, arch, defaultUser: user, guestAgent: agent }) }
}

async function copyId(ctx: CommandContext, kind: 'snapshot' | 'backup', text: string): Promise<string> {
  const [vm = '', ...rest] = text.split('/')
  if (rest.length === 0) return ctx.resolveId(kind, text)
  return ctx.resolveId(kind, rest.join('/'), await ctx.resolveId('vm', vm))
}

const update = defineCommand<{ name?: string; label?: string[]; protect?: string }>({
  name: 'update',
  description: 'rename, label or protect an image',
  args: '<image>',
  options: [['--name <name>', 'its name'], LABEL, ['--protect <on|off>', 'whether it can be deleted']],
  example: 'image update golden --name golden-2 --protect on',
  async run(ctx, { name, label, protect }, image: string) {
    const fields = { name, labels: parseLabels(label), isProtected: parseOnOff('--protect', protect) }
    const change = requireChanges(omitUndefined(fields), '--name, --label, --protect')
    return imageDetails(ctx, await ctx.berth.images.update(await ctx.resolveId('image', image), change))
  },
})

const remove = defineCommand<{ dryRun?: true }>({
  name: 'delete',
  description: 'delete an image that no VM needs; unused days are refunded',
  args: '<image>',
  example: 'image delete golden',
  confirms: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, image: string) {
    const id = await ctx.resolveId('image', image)
    if (dryRun) return quoteDetails(await ctx.berth.images.quoteDelete(id))
    await ctx.confirm(`Image ${image} will be permanently deleted.`, image)
    return message(await ctx.berth.images.delete(id), image, `Image ${image} is being deleted`)
  },
})

export const image = group('image', 'own images to make VMs from', [list, get, create, update, remove])
