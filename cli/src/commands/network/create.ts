import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { wrongUsage } from '../../failure.ts'
import { given } from '../../options.ts'
import { NETWORK_FIELDS } from '../views.ts'

interface Options {
  cidr?: string
  region?: string
  node?: string
  gateway?: string
  snat: boolean
  dhcp: boolean
}

export const create = verb<Options>({
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
