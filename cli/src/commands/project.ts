import type { Project } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { details, message, table, type Columns } from '../result.ts'

const FIELDS: Columns<Project> = {
  Name: (each) => each.name,
  Id: (each) => each.id,
  VMs: (each) => each.vmCount,
  Created: (each) => time(each.createdAt),
}

const list = defineCommand({
  name: 'list',
  description: 'list the projects that the account pays for',
  example: 'project list',
  lists: true,
  run: async (ctx) =>
    table(
      await ctx.list(ctx.berth.projects.list()),
      {
        NAME: (each: Project) => each.name,
        ID: (each) => each.id,
        VMS: (each) => each.vmCount,
        CREATED: (each) => time(each.createdAt),
      },
      'No projects yet. Create one: berth project create shop',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a project',
  args: '<project>',
  example: 'project get shop',
  run: async (ctx, _, text: string) => details(await ctx.berth.projects.get(await ctx.resolveId('project', text)), FIELDS),
})

const create = defineCommand({
  name: 'create',
  description: 'create a project, with members and API tokens of its own',
  args: '<name>',
  example: 'project create shop',
  run: async ({ berth }, _, name: string) => details(await berth.projects.create({ name }), FIELDS),
})

const rename = defineCommand({
  name: 'rename',
  description: 'rename a project',
  args: '<project> <name>',
  example: 'project rename shop web-shop',
  async run(ctx, _, text: string, name: string) {
    const renamed = await ctx.berth.projects.rename(await ctx.resolveId('project', text), name)
    return message(renamed, renamed.name, `${text} renamed to ${renamed.name}`)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a project without resources; its members and API tokens end with it',
  args: '<project>',
  example: 'project delete shop',
  confirms: true,
  async run(ctx, _, text: string) {
    const id = await ctx.resolveId('project', text)
    await ctx.confirm(
      `Project ${text} will be permanently deleted, with its members, API tokens, webhooks and alerts. Its tickets are closed.`,
      text,
    )
    return message(await ctx.berth.projects.delete(id), text, `Project ${text} deleted`)
  },
})

export const project = group('project', 'resources with members and API tokens of their own', [list, get, create, rename, remove])
