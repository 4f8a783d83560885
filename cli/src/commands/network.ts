import type { Network } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { labelText, time } from '../format.ts'
import { LABEL, labelsOf, omitUndefined, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'
import { peering } from './network-peering.ts'
import { route } from './network-route.ts'

const NETWORK_FIELDS: Columns<Network> = {
  Name: (network) => network.name,
  Id: (network) => network.id,
  CIDR: (network) => network.cidr,
  Gateway: (network) => network.gateway,
  SNAT: (network) => network.enableSnat,
  DHCP: (network) => network.enableDhcp,
  Region: (network) => network.region.name,
  VMs: (network) => network.attachmentCount,
  Labels: ({ labels }) => labelText(labels) || undefined,
  Created: (network) => time(network.createdAt),
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list private networks',
  options: [SELECTOR],
  example: 'network list',
  lists: true,
  run: async (ctx, options) =>
    table(
      await ctx.list(ctx.berth.networks.list(selectorOf(options))),
      {
        NAME: (each: Network) => each.name,
        CIDR: (each) => each.cidr,
        GATEWAY: (each) => each.gateway,
        SNAT: (each) => each.enableSnat,
        DHCP: (each) => each.enableDhcp,
        REGION: (each) => each.region.name,
        VMS: (each) => each.attachmentCount,
      },
      'No networks yet. Create one: berth network create --help',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a private network',
  args: '<network>',
  example: 'network get backend',
  run: async (ctx, _, network: string) => details(await ctx.berth.networks.get(await ctx.resolveId('network', network)), NETWORK_FIELDS),
})

interface CreateOptions {
  cidr?: string
  region?: string
  node?: string
  gateway?: string
  snat: boolean
  dhcp: boolean
  label?: string[]
}

const create = defineCommand<CreateOptions>({
  name: 'create',
  description: 'create a private network',
  args: '<name>',
  options: [
    ['--cidr <range>', 'IP range, such as 10.0.0.0/24 (required)'],
    ['--region <region>', 'region; the network spans all its hosts; default: the only available one'],
    ['--node <id>', 'host of the region, instead of --region; see berth region nodes'],
    ['--gateway <address>', 'gateway address; default: the first address of the range'],
    ['--no-snat', 'no outbound internet access through this network'],
    ['--no-dhcp', 'do not assign addresses by DHCP'],
    LABEL,
  ],
  example: 'network create backend --cidr 10.0.0.0/24 --region fra1',
  async run(ctx, { cidr, region, node, gateway, snat, dhcp, ...options }, name: string) {
    if (!cidr) throw usageError('--cidr is required, such as --cidr 10.0.0.0/24')
    const nodeId = node ?? (await ctx.resolveRegionId(region))
    const order = { name, nodeId, cidr, enableSnat: snat, enableDhcp: dhcp, ...omitUndefined({ gateway }), ...labelsOf(options) }
    return details(await ctx.berth.networks.create(order), NETWORK_FIELDS)
  },
})

const rename = defineCommand({
  name: 'rename',
  description: 'rename a network',
  args: '<network> <name>',
  example: 'network rename backend databases',
  async run(ctx, _, network: string, name: string) {
    const renamed = await ctx.berth.networks.rename(await ctx.resolveId('network', network), name)
    return message(renamed, renamed.name, `${network} renamed to ${renamed.name}`)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a network without attached VMs',
  args: '<network>',
  example: 'network delete backend',
  confirms: true,
  async run(ctx, _, network: string) {
    const id = await ctx.resolveId('network', network)
    await ctx.confirm(`Network ${network} will be permanently deleted.`, network)
    return message(await ctx.berth.networks.delete(id), network, `Network ${network} deleted`)
  },
})

const vms = defineCommand({
  name: 'vms',
  description: 'list the VMs in a network with their addresses in it',
  args: '<network>',
  example: 'network vms backend',
  async run(ctx, _, network: string) {
    const attachments = await ctx.berth.networks.attachments(await ctx.resolveId('network', network))
    const nameOf = await ctx.vmNames(attachments)
    return table(
      attachments,
      { VM: (each) => nameOf(each.vmId), ADDRESS: (each) => each.ipAddress, ID: (each) => each.vmId },
      `No VMs attached. Attach one: berth network attach ${network} <vm>`,
      ({ vmId }: { vmId?: string }) => vmId ?? '',
    )
  },
})

const attach = defineCommand({
  name: 'attach',
  description: 'attach a VM to a network',
  args: '<network> <vm>',
  example: 'network attach backend web-1',
  waits: true,
  async run(ctx, _, network: string, vm: string) {
    const networkId = await ctx.resolveId('network', network)
    return ctx.changeVm(vm, `attaching ${network} to`, (berth, id) => berth.vms.attachNetwork(id, networkId))
  },
})

const detach = defineCommand({
  name: 'detach',
  description: 'detach a VM from a network',
  args: '<network> <vm>',
  example: 'network detach backend web-1',
  waits: true,
  async run(ctx, _, network: string, vm: string) {
    const networkId = await ctx.resolveId('network', network)
    return ctx.changeVm(vm, `detaching ${network} from`, (berth, id) => berth.vms.detachNetwork(id, networkId))
  },
})

export const network = group('network', 'private networks between your VMs', [
  list,
  get,
  create,
  rename,
  remove,
  vms,
  attach,
  detach,
  route,
  peering,
])
