import type { Project } from '@berth/sdk'
import { budgetOf, budgetOptions, budgetText, usedText, type BudgetOptions } from '../budget.ts'
import { defineCommand, group } from '../command.ts'
import { shellWord, time } from '../format.ts'
import { omitUndefined, requireChanges } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

const FIELDS: Columns<Project> = {
  Name: (each) => each.name,
  Id: (each) => each.id,
  VMs: (each) => each.vmCount,
  Budget: ({ budget }) => budgetText(budget),
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
        BUDGET: ({ budget }) => usedText(budget),
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

const BUDGET = budgetOptions('in it')

const create = defineCommand<BudgetOptions>({
  name: 'create',
  description: 'create a project, with members and API tokens of its own',
  args: '<name>',
  options: BUDGET,
  example: 'project create shop --budget 200.00',
  async run(ctx, options, name: string) {
    const created = await ctx.berth.projects.create({ name, ...omitUndefined({ budget: budgetOf(options) }) })
    const signIn = `berth login ${shellWord(ctx.server.url)} --name ${shellWord(created.name)}`
    return {
      ...details(created, FIELDS),
      hint: `To work in it, make an API token in it (dashboard: switch to it, then Settings, API keys), and: ${signIn}`,
    }
  },
})

const update = defineCommand<BudgetOptions & { name?: string }>({
  name: 'update',
  description: 'rename a project, or change what may be spent in it',
  args: '<project>',
  options: [['--name <name>', 'name'], ...BUDGET],
  example: 'project update shop --name web-shop --budget 200.00',
  async run(ctx, { name, ...options }, text: string) {
    const body = requireChanges(omitUndefined({ name, budget: budgetOf(options) }), '--name, --budget, --max-vms, --budget-labels')
    return details(await ctx.berth.projects.update(await ctx.resolveId('project', text), body), FIELDS)
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

export const project = group('project', 'resources with members and API tokens of their own', [list, get, create, update, remove])
