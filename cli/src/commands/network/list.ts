import type { Network } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const list = verb({
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
