import type { AccountLimit, AuditEntry } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined } from '../options.ts'
import { details, table } from '../result.ts'

const show = defineCommand({
  name: 'show',
  description: 'show the account of the current token',
  example: 'account show',
  run: async ({ berth }) =>
    details(
      await berth.account.get(),
      { Email: (each) => each.email, Name: (each) => each.name, Id: (each) => each.id, Created: (each) => time(each.createdAt) },
      ({ email }: { email?: string }) => email ?? '',
    ),
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

const audit = defineCommand<{ from?: string; to?: string; action?: string; token?: string }>({
  name: 'audit',
  description: 'list changes and refused requests, newest first',
  options: [
    ['--from <date>', 'start, ISO date or time'],
    ['--to <date>', 'end, ISO date or time'],
    ['--action <name>', 'operation, such as createVm'],
    ['--token <id>', 'filter by API token'],
  ],
  example: 'account audit --action deleteVm',
  lists: true,
  run: async (ctx, { from, to, action, token }) =>
    table(
      await ctx.list(ctx.berth.account.auditLog(omitUndefined({ dateFrom: from, dateTo: to, action, tokenId: token }))),
      {
        TIME: (each: AuditEntry) => time(each.createdAt),
        ACTION: (each) => each.action,
        ACTOR: (each) => each.actor.name,
        IP: (each) => each.ip,
        RESULT: (each) => each.result,
        CODE: (each) => each.errorCode,
        RESOURCE: (each) => each.resourceId,
      },
      'No entries found',
    ),
})

export const account = group('account', 'your account', [show, limits, audit])
