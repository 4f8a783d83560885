import type { Body, Invitation, Member, NewInvitation } from '@berth/sdk'
import { budgetOf, budgetOptions, budgetText, limitsText, usedText, type BudgetOptions } from '../budget.ts'
import { defineCommand, group } from '../command.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { time } from '../format.ts'
import { omitUndefined, requireChanges, splitList } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

type Role = Body<'createInvitation'>['role']

interface GrantOptions extends BudgetOptions {
  role?: string
  scope?: string[]
}

const SCOPE: [string, string] = ['--scope <scopes...>', 'what the role custom allows, such as vms:read or vms:*']
const BUDGET = budgetOptions('by the member, signed in and by tokens,')

const grantOf = ({ scope, role: _, ...budget }: GrantOptions) => omitUndefined({ scopes: splitList(scope), budget: budgetOf(budget) })

const ROLE = 'owner, admin, operator, billing, read-only or custom'

const MEMBER_FIELDS: Columns<Member> = {
  Email: (each) => each.email,
  Name: (each) => each.name || undefined,
  Id: (each) => each.id,
  Role: (each) => each.role,
  Inherited: (each) => (each.inherited ? 'from the account that pays' : undefined),
  Scopes: (each) => each.scopes,
  Budget: ({ budget }) => budgetText(budget),
  'Two-factor': (each) => (each.twoFactorEnabled ? 'yes' : 'no'),
  Since: (each) => time(each.createdAt),
}

/** What other commands take; the name need not be set, nor be unique. */
const emailOf = ({ email }: { email?: string }): string => email ?? ''

const list = defineCommand({
  name: 'list',
  description: 'list members and their roles',
  example: 'member list',
  lists: true,
  run: async (ctx) =>
    table(
      await ctx.list(ctx.berth.members.list()),
      {
        EMAIL: (each: Member) => each.email,
        NAME: (each) => each.name,
        ROLE: (each) => (each.inherited ? `${each.role}, inherited` : each.role),
        BUDGET: ({ budget }) => usedText(budget),
        'TWO-FACTOR': (each) => (each.twoFactorEnabled ? 'yes' : 'no'),
        SINCE: (each) => time(each.createdAt),
      },
      'No members: nobody signs in to this account yet',
      emailOf,
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a member',
  args: '<member>',
  example: 'member get ada@example.com',
  async run(ctx, _, member: string) {
    const id = await ctx.resolveId('member', member)
    const found = (await ctx.berth.members.list().all()).find((each) => each.id === id)
    if (!found) throw new CliError(EXIT.notFound, `No member has the id ${id}. To list them: berth member list`)
    return details(found, MEMBER_FIELDS, emailOf)
  },
})

const update = defineCommand<GrantOptions>({
  name: 'update',
  description: 'change the role or the budget of a member',
  args: '<member>',
  options: [['--role <role>', ROLE], SCOPE, ...BUDGET],
  example: 'member update ada@example.com --role operator --budget 50.00',
  async run(ctx, options, member: string) {
    const body = requireChanges(
      { ...omitUndefined({ role: options.role as Role | undefined }), ...grantOf(options) },
      '--role, --scope, --budget, --max-vms, --budget-labels',
    )
    return details(await ctx.berth.members.update(await ctx.resolveId('member', member), body), MEMBER_FIELDS, emailOf)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'remove a member; API tokens that the member made stop working',
  args: '<member>',
  example: 'member delete ada@example.com',
  confirms: true,
  async run(ctx, _, member: string) {
    const id = await ctx.resolveId('member', member)
    await ctx.confirm(`Member ${member} will be removed, and API tokens that the member made will stop working.`, member)
    const removed = await ctx.berth.members.delete(id)
    const tokens = removed.revokedTokenIds.length
    return message(removed, member, `${member} removed${tokens > 0 ? `; ${tokens} API tokens revoked` : ''}`)
  },
})

export const member = group('member', 'people who may act in the account', [list, get, update, remove])

const INVITATION_FIELDS: Columns<NewInvitation> = {
  Email: (each) => each.email,
  Id: (each) => each.id,
  Role: (each) => each.role,
  Scopes: (each) => each.scopes,
  Budget: ({ budget }) => limitsText(budget),
  'Invited by': (each) => each.invitedBy,
  Expires: (each) => time(each.expiresAt),
  Link: (each) => each.url ?? undefined,
}

const listInvitations = defineCommand({
  name: 'list',
  description: 'list open invitations',
  example: 'invitation list',
  lists: true,
  run: async (ctx) =>
    table(
      await ctx.list(ctx.berth.invitations.list()),
      {
        ID: (each: Invitation) => each.id,
        EMAIL: (each) => each.email,
        ROLE: (each) => each.role,
        'INVITED BY': (each) => each.invitedBy,
        EXPIRES: (each) => time(each.expiresAt),
      },
      'No open invitations. Invite somebody: berth invitation create ada@example.com --role read-only',
    ),
})

const create = defineCommand<GrantOptions>({
  name: 'create',
  description: 'invite somebody by mail; prints the link where the server sends no mail',
  args: '<email>',
  options: [['--role <role>', `${ROLE}; default: read-only`], SCOPE, ...BUDGET],
  example: 'invitation create ada@example.com --role operator --budget 50.00',
  run: async ({ berth }, options, email: string) =>
    details(await berth.invitations.create({ email, role: (options.role ?? 'read-only') as Role, ...grantOf(options) }), INVITATION_FIELDS),
})

const withdraw = defineCommand({
  name: 'delete',
  description: 'withdraw an invitation; its link stops working',
  args: '<invitation>',
  example: 'invitation delete ada@example.com',
  confirms: true,
  async run(ctx, _, invitation: string) {
    const id = await ctx.resolveId('invitation', invitation)
    await ctx.confirm(`The invitation of ${invitation} will be withdrawn. Its link stops working.`, invitation)
    return message(await ctx.berth.invitations.delete(id), invitation, `Invitation of ${invitation} withdrawn`)
  },
})

export const invitation = group('invitation', 'invitations to the account', [listInvitations, create, withdraw])
