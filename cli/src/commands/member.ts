import type { Body, Invitation, Member, NewInvitation } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined, splitList } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

type Grant = Pick<Body<'updateMember'>, 'role' | 'scopes'>

const SCOPE: [string, string] = ['--scope <scopes...>', 'what the role custom allows, such as vms:read or vms:*']

const grantOf = (role: string, { scope }: { scope?: string[] }): Grant => ({
  role: role as Grant['role'],
  ...omitUndefined({ scopes: splitList(scope) }),
})

const ROLE = 'owner, admin, operator, billing, read-only or custom'

const MEMBER_FIELDS: Columns<Member> = {
  Email: (each) => each.email,
  Name: (each) => each.name || undefined,
  Id: (each) => each.id,
  Role: (each) => each.role,
  Scopes: (each) => each.scopes,
  'Two-factor': (each) => (each.twoFactorEnabled ? 'yes' : 'no'),
  Since: (each) => time(each.createdAt),
}

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
        ROLE: (each) => each.role,
        'TWO-FACTOR': (each) => (each.twoFactorEnabled ? 'yes' : 'no'),
        SINCE: (each) => time(each.createdAt),
      },
      'No members: nobody signs in to this account yet',
    ),
})

const set = defineCommand<{ scope?: string[] }>({
  name: 'set',
  description: `change the role of a member: ${ROLE}`,
  args: '<member> <role>',
  options: [SCOPE],
  example: 'member set ada@example.com read-only',
  run: async (ctx, options, member: string, role: string) =>
    details(await ctx.berth.members.update(await ctx.resolveId('member', member), grantOf(role, options)), MEMBER_FIELDS),
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

export const member = group('member', 'people who may act in the account', [list, set, remove])

const INVITATION_FIELDS: Columns<NewInvitation> = {
  Email: (each) => each.email,
  Id: (each) => each.id,
  Role: (each) => each.role,
  Scopes: (each) => each.scopes,
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

const create = defineCommand<{ role?: string; scope?: string[] }>({
  name: 'create',
  description: 'invite somebody by mail; prints the link where the server sends no mail',
  args: '<email>',
  options: [['--role <role>', `${ROLE}; default: read-only`], SCOPE],
  example: 'invitation create ada@example.com --role operator',
  run: async ({ berth }, { role = 'read-only', ...options }, email: string) =>
    details(await berth.invitations.create({ email, ...grantOf(role, options) }), INVITATION_FIELDS),
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
