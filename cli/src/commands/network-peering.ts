import type { NetworkPeering } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { details, message, table, type Columns } from '../result.ts'

const PEERING_COLUMNS: Columns<NetworkPeering> = {
  NETWORK: (peering) => peering.name,
  CIDR: (peering) => peering.cidr,
  CREATED: (peering) => time(peering.createdAt),
  ID: (peering) => peering.id,
}

const list = defineCommand({
  name: 'list',
  description: 'list the networks that a network is connected to',
  args: '<network>',
  example: 'network peering list backend',
  run: async (ctx, _, network: string) =>
    table(
      await ctx.berth.networks.peerings(await ctx.resolveId('network', network)),
      PEERING_COLUMNS,
      `No peerings. Add one: berth network peering add ${network} <network>`,
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a peering by the name of the other network or its id',
  args: '<network> <peering>',
  example: 'network peering get backend databases',
  async run(ctx, _, network: string, peering: string) {
    const id = await ctx.resolveId('network', network)
    return details(await ctx.berth.networks.peering(id, await ctx.resolveId('peering', peering, id)), PEERING_COLUMNS)
  },
})

const add = defineCommand({
  name: 'add',
  description: 'connect two networks of a region',
  args: '<network> <other>',
  example: 'network peering add backend databases',
  async run(ctx, _, network: string, other: string) {
    const [id, otherId] = await Promise.all([ctx.resolveId('network', network), ctx.resolveId('network', other)])
    return details(await ctx.berth.networks.addPeering(id, otherId), PEERING_COLUMNS)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'disconnect two networks, by the name of the other one or the id of the peering',
  args: '<network> <peering>',
  example: 'network peering delete backend databases',
  confirms: true,
  async run(ctx, _, network: string, peering: string) {
    const id = await ctx.resolveId('network', network)
    const peeringId = await ctx.resolveId('peering', peering, id)
    await ctx.confirm(`VMs in ${network} and ${peering} will no longer reach each other.`, peering)
    return message(await ctx.berth.networks.deletePeering(id, peeringId), peering, `Peering of ${network} and ${peering} deleted`)
  },
})

export const peering = group('peering', 'connections between two networks', [list, get, add, remove])
