import type { Maintenance } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { table } from '../result.ts'

const list = defineCommand({
  name: 'list',
  description: 'list maintenances that the provider has announced for hosts of your VMs',
  example: 'maintenance list',
  lists: true,
  async run(ctx) {
    const maintenances = await ctx.list(ctx.berth.maintenances.list())
    const nameOf = await ctx.vmNames(maintenances.flatMap(({ vmIds }) => vmIds.map((vmId) => ({ vmId }))))
    return table(
      maintenances,
      {
        STATE: (each: Maintenance) => each.state,
        FROM: (each) => time(each.startsAt),
        TO: (each) => time(each.endsAt),
        VMS: (each) => each.vmIds.map(nameOf),
        TEXT: (each) => each.text,
      },
      'No maintenances are announced',
    )
  },
})

export const maintenance = group('maintenance', 'announced maintenances of hosts', [list])
