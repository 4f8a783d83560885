import type { PlacementGroup } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { labelText, time } from '../format.ts'
import { LABEL, labelsOf, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

const FIELDS: Columns<PlacementGroup> = {
  Name: (each) => each.name,
  Id: (each) => each.id,
  Policy: (each) => each.policy,
  VMs: (each) => each.vms.map(({ name }) => name),
  Hosts: (each) => each.hostCount,
  Labels: ({ labels }) => labelText(labels) || undefined,
  Created: (each) => time(each.createdAt),
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list placement groups',
  options: [SELECTOR],
  example: 'placement-group list',
  lists: true,
  run: async (ctx, options) =>
    table(
      await ctx.list(ctx.berth.placementGroups.list(selectorOf(options))),
      {
        NAME: (each: PlacementGroup) => each.name,
        POLICY: (each) => each.policy,
        VMS: (each) => each.vms.length,
        HOSTS: (each) => each.hostCount,
      },
      'No placement groups yet. Create one: berth placement-group create web --policy SPREAD',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a placement group',
  args: '<group>',
  example: 'placement-group get web',
  run: async (ctx, _, text: string) => details(await ctx.berth.placementGroups.get(await ctx.resolveId('placement-group', text)), FIELDS),
})

const create = defineCommand<{ policy?: string; label?: string[] }>({
  name: 'create',
  description: 'create a placement group; VMs join it with berth vm create --placement-group',
  args: '<name>',
  options: [
    ['--policy <policy>', 'SPREAD (on different hosts if possible; default), STRICT_SPREAD (always) or TOGETHER (on one host if possible)'],
    LABEL,
  ],
  example: 'placement-group create web --policy STRICT_SPREAD',
  run: async ({ berth }, { policy = 'SPREAD', ...options }, name: string) =>
    details(
      await berth.placementGroups.create({ name, policy: policy.toUpperCase() as PlacementGroup['policy'], ...labelsOf(options) }),
      FIELDS,
    ),
})

const rename = defineCommand({
  name: 'rename',
  description: 'rename a placement group',
  args: '<group> <name>',
  example: 'placement-group rename web frontend',
  async run(ctx, _, text: string, name: string) {
    const renamed = await ctx.berth.placementGroups.rename(await ctx.resolveId('placement-group', text), name)
    return message(renamed, renamed.name, `${text} renamed to ${renamed.name}`)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a placement group without VMs',
  args: '<group>',
  example: 'placement-group delete web',
  confirms: true,
  async run(ctx, _, text: string) {
    const id = await ctx.resolveId('placement-group', text)
    await ctx.confirm(`Placement group ${text} will be permanently deleted.`, text)
    return message(await ctx.berth.placementGroups.delete(id), text, `Placement group ${text} deleted`)
  },
})

export const placementGroup = group('placement-group', 'which VMs share a host', [list, get, create, rename, remove])
