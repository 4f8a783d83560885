import type { Address } from '@berth/sdk'
import { priceOf, quoteDetails, reverseNameState } from '../columns.ts'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { labelText, time } from '../format.ts'
import { LABEL, labelsOf, omitUndefined, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type CommandResult, type Columns } from '../result.ts'
import type { CommandContext } from '../command-context.ts'

const ADDRESS_FIELDS: Columns<Address> = {
  Address: (address) => address.address,
  Name: (address) => address.name,
  Id: (address) => address.id,
  Region: (address) => address.region.name,
  VM: (address) => address.vmId,
  'In the guest': (address) => address.guestState,
  Reason: (address) => address.guestReason,
  'Reverse name': (address) => address.reverseName,
  'Reverse name state': reverseNameState,
  Labels: ({ labels }) => labelText(labels) || undefined,
  'Price a month': (address) => address.billing.priceMonthly,
  Billing: (address) => address.billing.status,
  'Next renewal': (address) => time(address.billing.nextRenewalAt),
  Created: (address) => time(address.createdAt),
}

async function addressDetails(ctx: CommandContext, address: Address): Promise<CommandResult> {
  const nameOf = await ctx.vmNames([address])
  return details(address, { ...ADDRESS_FIELDS, VM: ({ vmId }) => vmId && nameOf(vmId) })
}

const list = defineCommand<{ region?: string; vm?: string; selector?: string }>({
  name: 'list',
  description: 'list floating addresses',
  options: [['--region <region>', 'only those of this region'], ['--vm <vm>', 'only those of this VM'], SELECTOR],
  example: 'address list --vm web-1',
  lists: true,
  async run(ctx, { region, vm, ...options }) {
    const regionId = region === undefined ? undefined : await ctx.resolveId('region', region)
    const vmId = vm === undefined ? undefined : await ctx.resolveId('vm', vm)
    const addresses = await ctx.list(ctx.berth.addresses.list({ ...omitUndefined({ regionId, vmId }), ...selectorOf(options) }))
    const nameOf = await ctx.vmNames(addresses)
    return table(
      addresses,
      {
        ADDRESS: (each: Address) => each.address,
        NAME: (each) => each.name,
        REGION: (each) => each.region.slug,
        VM: (each) => each.vmId && nameOf(each.vmId),
        GUEST: (each) => each.guestState,
        BILLING: (each) => each.billing.status,
      },
      'No floating addresses yet. Reserve one: berth address reserve --help',
    )
  },
})

const get = defineCommand({
  name: 'get',
  description: 'show a floating address',
  args: '<address>',
  example: 'address get www',
  run: async (ctx, _, address: string) => addressDetails(ctx, await ctx.berth.addresses.get(await ctx.resolveId('address', address))),
})

const reserve = defineCommand<{ region?: string; name?: string; label?: string[]; dryRun?: true }>({
  name: 'reserve',
  description: 'reserve a public address that can move between VMs',
  options: [
    ['--region <region>', 'region whose VMs can have it; default: the only available one'],
    ['--name <name>', 'name; default: the address itself'],
    LABEL,
  ],
  example: 'address reserve --region fra1 --name www',
  asks: true,
  supportsDryRun: true,
  async run(ctx, { region, name, dryRun, ...options }) {
    const order = { regionId: await ctx.resolveRegionId(region), ...omitUndefined({ name }), ...labelsOf(options) }
    if (dryRun) return quoteDetails(await ctx.berth.addresses.quoteReserve(order))
    await ctx.ask(async () => `Reserving an address ${priceOf(await ctx.berth.addresses.quoteReserve(order))}`)
    return details(await ctx.berth.addresses.reserve(order), ADDRESS_FIELDS)
  },
})

const update = defineCommand<{ name?: string; reverseName?: string }>({
  name: 'update',
  description: 'rename a floating address, or set its name in reverse DNS',
  args: '<address>',
  options: [
    ['--name <name>', 'its name here'],
    ['--reverse-name <host>', 'its name in reverse DNS (PTR), such as mail.example.com, or "none"'],
  ],
  example: 'address update www --reverse-name www.example.com',
  async run(ctx, { name, reverseName }, address: string) {
    if (name === undefined && reverseName === undefined) throw usageError('give --name or --reverse-name')
    const change = {
      ...omitUndefined({ name }),
      ...(reverseName !== undefined && { reverseName: reverseName === 'none' ? null : reverseName }),
    }
    return addressDetails(ctx, await ctx.berth.addresses.update(await ctx.resolveId('address', address), change))
  },
})

interface ExpectOptions {
  expectVm?: string
}

const EXPECT = '--expect-vm <vm>'

const expectedOf = async (ctx: CommandContext, { expectVm }: ExpectOptions): Promise<string | null | undefined> =>
  expectVm === undefined ? undefined : expectVm === 'none' ? null : ctx.resolveId('vm', expectVm)

const assign = defineCommand<ExpectOptions>({
  name: 'assign',
  description: 'assign a floating address to a VM, taking it from the one that has it',
  args: '<address> <vm>',
  options: [[EXPECT, 'VM that has it now, or "none": nothing changes if another has it']],
  example: 'address assign www web-2 --expect-vm web-1',
  waits: true,
  async run(ctx, options, address: string, vm: string) {
    const id = await ctx.resolveId('address', address)
    const expectedVmId = await expectedOf(ctx, options)
    const body = { vmId: await ctx.resolveId('vm', vm), ...(expectedVmId !== undefined && { expectedVmId }) }
    return ctx.finish(await ctx.berth.addresses.assign(id, body), `assigning ${address} to ${vm}`, async () => outcome(ctx, id))
  },
})

const unassign = defineCommand<ExpectOptions>({
  name: 'unassign',
  description: 'take a floating address from its VM',
  args: '<address>',
  options: [[EXPECT, 'VM that has it now: nothing changes if another has it']],
  example: 'address unassign www',
  waits: true,
  async run(ctx, options, address: string) {
    if (options.expectVm === 'none') throw usageError('--expect-vm must be a VM: from none there is nothing to take')
    const id = await ctx.resolveId('address', address)
    const expectedVmId = (await expectedOf(ctx, options)) ?? undefined
    return ctx.finish(await ctx.berth.addresses.unassign(id, omitUndefined({ expectedVmId })), `unassigning ${address}`, async () =>
      outcome(ctx, id),
    )
  },
})

async function outcome(ctx: CommandContext, id: string): Promise<CommandResult> {
  const now = await ctx.berth.addresses.get(id)
  const where = now.vmId === null ? 'unassigned' : `assigned to ${(await ctx.vmNames([now]))(now.vmId)}`
  return message(now, now.address, `${now.address} is ${where}${now.guestReason === null ? '' : `. ${now.guestReason}`}`)
}

const release = defineCommand<{ dryRun?: true }>({
  name: 'release',
  description: 'give a floating address back; unused days are refunded',
  args: '<address>',
  example: 'address release www',
  confirms: true,
  supportsDryRun: true,
  async run(ctx, { dryRun }, address: string) {
    const id = await ctx.resolveId('address', address)
    if (dryRun) return quoteDetails(await ctx.berth.addresses.quoteRelease(id))
    await ctx.confirm(`Address ${address} will be given back, and may become another customer's.`, address)
    return message(await ctx.berth.addresses.release(id), address, `Address ${address} released`)
  },
})

export const address = group('address', 'floating addresses that move between your VMs', [
  list,
  get,
  reserve,
  update,
  assign,
  unassign,
  release,
])
