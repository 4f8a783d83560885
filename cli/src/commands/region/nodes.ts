import type { Node } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const nodes = verb({
  name: 'nodes',
  about: 'the machines of a region that private networks can live on',
  args: '<region>',
  example: 'region nodes fra1',
  run: async (call, _, region: string) =>
    rows(
      await call.berth.regions.nodes(await call.id('region', region)),
      { NAME: (each: Node) => each.name, AVAILABLE: (each) => each.available, ID: (each) => each.id },
      'There is no machine',
    ),
})
