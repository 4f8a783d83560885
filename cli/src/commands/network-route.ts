import type { NetworkRoute } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { time } from '../format.ts'
import { details, message, table, type Columns } from '../result.ts'

const ROUTE_COLUMNS: Columns<NetworkRoute> = {
  DESTINATION: (route) => route.destination,
  'NEXT HOP': (route) => route.nextHop,
  CREATED: (route) => time(route.createdAt),
  ID: (route) => route.id,
}

const list = defineCommand({
  name: 'list',
  description: 'list the routes of a network',
  args: '<network>',
  example: 'network route list backend',
  run: async (ctx, _, network: string) =>
    table(
      await ctx.berth.networks.routes(await ctx.resolveId('network', network)),
      ROUTE_COLUMNS,
      `No routes. Add one: berth network route add ${network} 192.168.0.0/24 --via <address>`,
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a route by destination or id',
  args: '<network> <route>',
  example: 'network route get backend 192.168.0.0/24',
  async run(ctx, _, network: string, route: string) {
    const id = await ctx.resolveId('network', network)
    return details(await ctx.berth.networks.route(id, await ctx.resolveId('route', route, id)), ROUTE_COLUMNS)
  },
})

const add = defineCommand<{ via?: string }>({
  name: 'add',
  description: 'route a range to a VM of the network',
  args: '<network> <destination>',
  options: [['--via <address>', 'address of the VM in the network (required)']],
  example: 'network route add backend 192.168.0.0/24 --via 10.0.0.5',
  async run(ctx, { via }, network: string, destination: string) {
    if (!via) throw usageError('--via is required, such as --via 10.0.0.5')
    const id = await ctx.resolveId('network', network)
    return details(await ctx.berth.networks.addRoute(id, { destination, nextHop: via }), ROUTE_COLUMNS)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a route by destination or id',
  args: '<network> <route>',
  example: 'network route delete backend 192.168.0.0/24',
  confirms: true,
  async run(ctx, _, network: string, route: string) {
    const id = await ctx.resolveId('network', network)
    const routeId = await ctx.resolveId('route', route, id)
    await ctx.confirm(`VMs in ${network} will no longer reach ${route}.`, route)
    return message(await ctx.berth.networks.deleteRoute(id, routeId), route, `Route ${route} of ${network} deleted`)
  },
})

export const route = group('route', 'routes of a network to ranges behind its VMs', [list, get, add, remove])
