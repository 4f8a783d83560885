import type { Account, AccountLimit, AuditEntry } from '@berth/sdk'
import { budgetText } from '../budget.ts'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined } from '../options.ts'
import { details, message, table } from '../result.ts'

const show = defineCommand({
  name: 'show',
  description: 'show the account of the current token',
  example: 'account show',
  run: async ({ berth }) =>
    details(
      await berth.account.get(),
      {
        Email: (each) => each.email ?? undefined,
        Name: (each) => each.name,
        Id: (each) => each.id,
        Project: (each) => (each.isProject ? 'yes, another account pays' : undefined),
        Budget: ({ budget }) => budgetText(budget),
        'Requires two-factor': (each) => (each.requireTwoFactor ? 'yes' : 'no'),
        Created: (each) => time(each.createdAt),
      },
      ({ email, name }: Partial<Account>) => email ?? name ?? '',
    ),
})

const update = defineCommand<{ name?: string }>({
  name: 'update',
  description: 'rename the account',
  options: [['--name <name>', 'new name']],
  example: "account update --name 'Example Ltd'",
  async run({ berth }, { name }) {
    const changed = await berth.account.update(omitUndefined({ name }))
    return message(changed, changed.id, `Account renamed to ${changed.name}`)
  },
})

/** Of limits that do not count things. */
const UNITS: Record<string, string> = {
  copies: 'GiB',
  disk: 'GiB',
  failedImportGibPerDay: 'GiB',
  imageStorage: 'GiB',
  ram: 'MiB',
  volumeStorage: 'GiB',
}

const limits = defineCommand({
  name: 'limits',
  description: 'show account limits and usage',
  example: 'account limits',
  run: async ({ berth }) =>
    table(
      await berth.account.limits(),
      {
        NAME: (each: AccountLimit) => each.name,
        USED: (each) => each.used,
        LIMIT: (each) => each.limit,
        UNIT: (each) => UNITS[each.name],
      },
      'No limits',
    ),
})

const audit = defineCommand<{ from?: string; to?: string; action?: string; token?: string; person?: string }>({
  name: 'audit',
  description: 'list changes and refused requests, newest first',
  options: [
    ['--from <date>', 'start, ISO date or time'],
    ['--to <date>', 'end, ISO date or time'],
    ['--action <name>', 'operation, such as createVm'],
    ['--token <id>', 'filter by API token'],
    ['--person <id>', 'filter by member, signed in or by a token of the member'],
  ],
  example: 'account audit --action deleteVm',
  lists: true,
  run: async (ctx, { from, to, action, token, person }) =>
    table(
      await ctx.list(ctx.berth.account.auditLog(omitUndefined({ dateFrom: from, dateTo: to, action, tokenId: token, personId: person }))),
      {
        TIME: (each: AuditEntry) => time(each.createdAt),
        ACTION: (each) => each.action,
        ACTOR: (each) => each.actor.name,
        PERSON: (each) => (each.actor.via === 'token' ? each.actor.person?.name : undefined),
        IP: (each) => each.ip,
        RESULT: (each) => each.result,
        CODE: (each) => each.errorCode,
        RESOURCE: (each) => each.resourceId,
      },
      'No entries found',
    ),
})

export const account = group('account', 'your account', [show, update, limits, audit])
