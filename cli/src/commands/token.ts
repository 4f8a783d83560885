import type { Token } from '@berth/sdk'
import { budgetOf, budgetOptions, budgetText, usedText, type BudgetOptions } from '../budget.ts'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { time } from '../format.ts'
import { omitUndefined, requireChanges, splitList } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

const orNever = (at: string | null): string => (at === null ? 'never' : time(at))

const TOKEN_FIELDS: Columns<Token> = {
  Name: (token) => token.name,
  Id: (token) => token.id,
  Prefix: (token) => token.prefix,
  Active: (token) => token.isActive,
  Scopes: (token) => token.scopes,
  Expires: (token) => orNever(token.expiresAt),
  Revoked: (token) => (token.revokedAt === null ? undefined : time(token.revokedAt)),
  'Allowed addresses': (token) => (token.allowedIps.length === 0 ? 'all' : token.allowedIps),
  'Requests a minute': (token) => token.requestsPerMinute,
  Budget: ({ budget }) => budgetText(budget),
  'Made with': (token) => token.parentId ?? undefined,
  'Last used': (token) => orNever(token.lastUsedAt),
  Created: (token) => time(token.createdAt),
}

const list = defineCommand({
  name: 'list',
  description: 'list API tokens',
  example: 'token list',
  lists: true,
  run: async (ctx) =>
    table(
      await ctx.list(ctx.berth.tokens.list()),
      {
        ID: (each: Token) => each.id,
        NAME: (each) => each.name,
        PREFIX: (each) => each.prefix,
        ACTIVE: (each) => each.isActive,
        SCOPES: (each) => (each.scopes.length > 3 ? `${each.scopes.length} scopes` : each.scopes),
        BUDGET: ({ budget }) => usedText(budget),
        EXPIRES: (each) => orNever(each.expiresAt),
        'LAST USED': (each) => orNever(each.lastUsedAt),
      },
      'No tokens yet. Create one: berth token create ci --scope vms:read',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show an API token, without its secret',
  args: '<token>',
  example: 'token get ci',
  run: async (ctx, _, token: string) => details(await ctx.berth.tokens.get(await ctx.resolveId('token', token)), TOKEN_FIELDS),
})

interface LimitOptions extends BudgetOptions {
  scope?: string[]
  expires?: string
  allowIp?: string[]
}

const SCOPE: [string, string] = ['--scope <scope...>', 'what it may do, such as vms:read, "vms:*" or "*:read"; at most what this token may']
const EXPIRES: [string, string] = ['--expires <time>', 'such as 12h, 30d, 2030-01-31T12:00:00Z or never']
const ALLOW_IP: [string, string] = ['--allow-ip <addresses...>', 'only from these addresses or ranges; "all" for everywhere']

const BUDGET = budgetOptions('through it')

const limitsOf = ({ scope, expires, allowIp, ...budget }: LimitOptions) =>
  omitUndefined({
    budget: budgetOf(budget),
    scopes: splitList(scope),
    expiresAt: expires === undefined ? undefined : parseExpiry(expires),
    allowedIps: allowIp?.join() === 'all' ? [] : splitList(allowIp),
  })

const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseExpiry(text: string): string | null {
  if (text === 'never') return null
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const at = unit === undefined ? Date.parse(text) : Date.now() + Number(count) * UNITS_MS[unit]!
  if (Number.isNaN(at)) throw usageError(`--expires: "${text}" is not a time. Write 12h, 30d, 2030-01-31T12:00:00Z or never`)
  return new Date(at).toISOString()
}

const create = defineCommand<LimitOptions>({
  name: 'create',
  description: 'create an API token; its secret is shown only once',
  args: '<name>',
  options: [SCOPE, EXPIRES, ALLOW_IP, ...BUDGET],
  example: 'token create ci --scope vms:create,vms:read --expires 12h',
  async run({ berth }, options, name: string) {
    const { scopes, ...limits } = limitsOf(options)
    if (!scopes) throw usageError('--scope is required, such as --scope vms:read')
    return details(
      await berth.tokens.create({ name, scopes, ...limits }),
      { ...TOKEN_FIELDS, Secret: ({ secret }) => secret },
      ({ secret }: { secret?: string }) => secret ?? '',
    )
  },
})

const update = defineCommand<LimitOptions & { name?: string }>({
  name: 'update',
  description: 'rename an API token, or change what it may do; what it loses, all made with it lose',
  args: '<token>',
  options: [['--name <name>', 'name'], SCOPE, EXPIRES, ALLOW_IP, ...BUDGET],
  example: 'token update ci --scope vms:read --expires 30d',
  async run(ctx, { name, ...limits }, token: string) {
    const body = requireChanges(
      { ...omitUndefined({ name }), ...limitsOf(limits) },
      '--name, --scope, --expires, --allow-ip, --budget, --max-vms, --budget-labels',
    )
    return details(await ctx.berth.tokens.update(await ctx.resolveId('token', token), body), TOKEN_FIELDS)
  },
})

const revoke = defineCommand({
  name: 'revoke',
  description: 'revoke and delete an API token and all made with it',
  args: '<token>',
  example: 'token revoke ci',
  confirms: true,
  async run(ctx, _, token: string) {
    const id = await ctx.resolveId('token', token)
    await ctx.confirm(`API token ${token} will stop working, as will all tokens that were made with it.`, token)
    const { alsoRevoked, ...revoked } = await ctx.berth.tokens.revoke(id)
    const others = alsoRevoked.length === 0 ? '' : `, with ${alsoRevoked.length} made with it`
    return message({ ...revoked, alsoRevoked }, token, `Token ${token} revoked${others}`)
  },
})

export const token = group('token', 'API tokens', [list, get, create, update, revoke])
