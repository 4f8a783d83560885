import type { Network } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { group, verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { time } from '../format.ts'
import { given } from '../options.ts'

const NETWORK_FIELDS: Columns<Network> = {
  Name: (network) => network.name,
  Id: (network) => network.id,
  Range: (network) => network.cidr,
  Gateway: (network) => network.gateway,
  SNAT: (network) => network.enableSnat,
  DHCP: (network) => network.enableDhcp,
  Region: (network) => network.region.name,
  VMs: (network) => network.attachmentCount,
  Created: (network) => time(network.createdAt),
}

const list = verb({
  name: 'list',
  about: 'list your private networks',
  example: 'network list',
  run: async ({ berth }) =>
    rows(
      await berth.networks.list().all(),
      {
        NAME: (each: Network) => each.name,
        RANGE: (each) => each.cidr,
        GATEWAY: (each) => each.gateway,
        SNAT: (each) => each.enableSnat,
        DHCP: (each) => each.enableDhcp,
        REGION: (each) => each.region.name,
        VMS: (each) => each.attachmentCount,
      },
      'There is no network yet: berth network create --help',
    ),
})

const get = verb({
  name: 'get',
  about: 'show a private network',
  args: '<network>',
  example: 'network get backend',
  run: async (call, _, network: string) => record(await call.berth.networks.get(await call.id('network', network)), NETWORK_FIELDS),
})

interface CreateOptions {
  cidr?: string
  region?: string
  node?: string
  gateway?: string
  snat: boolean
  dhcp: boolean
}

const create = verb<CreateOptions>({
  name: 'create',
  about: 'make a private network',
  args: '<name>',
  options: [
    ['--cidr <range>', 'such as 10.0.0.0/24 (required)'],
    ['--region <region>', 'where; a host with room for the range is chosen'],
    ['--node <id>', 'on this host, as in berth region nodes'],
    ['--gateway <address>', 'the first address unless given'],
    ['--no-snat', 'VMs do not reach the internet through it'],
    ['--no-dhcp', 'VMs are not told their addresses'],
  ],
  example: 'network create backend --cidr 10.0.0.0/24 --region fra1',
  async run(call, { cidr, region, node, gateway, snat, dhcp }, name: string) {
    if (!cidr) throw wrongUsage('Say which range: --cidr 10.0.0.0/24')
    if (!region && !node) throw wrongUsage('Say where: --region and one of berth region list')
    const nodeId = node ?? (await call.id('region', region!))
    return record(
      await call.berth.networks.create({ name, nodeId, cidr, enableSnat: snat, enableDhcp: dhcp, ...given({ gateway }) }),
      NETWORK_FIELDS,
    )
  },
})

const rename = verb({
  name: 'rename',
  about: 'give a network another name',
  args: '<network> <name>',
  example: 'network rename backend databases',
  async run(call, _, network: string, name: string) {
    const renamed = await call.berth.networks.rename(await call.id('network', network), name)
    return said(renamed, renamed.name, `${network} is now called ${renamed.name}`)
  },
})

const remove = verb({
  name: 'delete',
  about: 'delete a network that no VM is in',
  args: '<network>',
  example: 'network delete backend',
  asks: true,
  async run(call, _, network: string) {
    const id = await call.id('network', network)
    await call.confirm(`Network ${network} will be gone.`, network)
    return said(await call.berth.networks.delete(id), network, `Network ${network} is gone`)
  },
})

const attach = verb({
  name: 'attach',
  about: 'put a VM into a network',
  args: '<network> <vm>',
  example: 'network attach backend web-1',
  waits: true,
  async run(call, _, network: string, vm: string) {
    const networkId = await call.id('network', network)
    return call.changeVm(vm, `attaching ${network} to`, (berth, id) => berth.vms.attachNetwork(id, networkId))
  },
})

const detach = verb({
  name: 'detach',
  about: 'take a VM out of a network',
  args: '<network> <vm>',
  example: 'network detach backend web-1',
  waits: true,
  async run(call, _, network: string, vm: string) {
    const networkId = await call.id('network', network)
    return call.changeVm(vm, `detaching ${network} from`, (berth, id) => berth.vms.detachNetwork(id, networkId))
  },
})

export const network = group('network', 'private networks between your VMs', [list, get, create, rename, remove, attach, detach])
