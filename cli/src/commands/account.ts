import type { AccountLimit, AuditEntry } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined } from '../options.ts'
import { details, table } from '../result.ts'

const show = defineCommand({
  name: 'show',
  description: 'whose token this is',
  example: 'account show',
  run: async ({ berth }) =>
    details(
      await berth.account.get(),
      { Email: (each) => each.email, Name: (each) => each.name, Id: (each) => each.id, Since: (each) => time(each.createdAt) },
      ({ email }: { email?: string }) => email ?? '',
    ),
})

const limits = defineCommand({
  name: 'limits',
  description: 'how much you may hold, and how much you do',
  example: 'account limits',
  run: async ({ berth }) =>
    table(
      await berth.account.limits(),
      { NAME: (each: AccountLimit) => each.name, USED: (each) => each.used, LIMIT: (each) => each.limit },
      'There is no limit',
    ),
})

const audit = defineCommand<{ from?: string; to?: string; action?: string; token?: string }>({
  name: 'audit',
  description: 'who changed what, and what was refused, the newest first',
  options: [
    ['--from <date>', 'ISO date or time'],
    ['--to <date>', 'ISO date or time'],
    ['--action <name>', 'such as createVm'],
    ['--token <id>', 'only by this token'],
  ],
  example: 'account audit --action deleteVm',
  run: async ({ berth }, { from, to, action, token }) =>
    table(
      await berth.account.auditLog(omitUndefined({ dateFrom: from, dateTo: to, action, tokenId: token })).all(),
      {
        TIME: (each: AuditEntry) => time(each.createdAt),
        ACTION: (each) => each.action,
        BY: (each) => each.actor.name,
        FROM: (each) => each.ip,
        RESULT: (each) => each.result,
        CODE: (each) => each.errorCode,
        ON: (each) => each.resourceId,
      },
      'Nothing was changed yet',
    ),
})

export const account = group('account', 'your account', [show, limits, audit])
