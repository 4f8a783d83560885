import type { AccountLimit, AuditEntry } from '@berth/sdk'
import { record, rows } from '../answer.ts'
import { group, verb } from '../command.ts'
import { time } from '../format.ts'
import { given } from '../options.ts'

const show = verb({
  name: 'show',
  about: 'whose token this is',
  example: 'account show',
  run: async ({ berth }) =>
    record(
      await berth.account.get(),
      { Email: (each) => each.email, Name: (each) => each.name, Id: (each) => each.id, Since: (each) => time(each.createdAt) },
      ({ email }: { email?: string }) => email ?? '',
    ),
})

const limits = verb({
  name: 'limits',
  about: 'how much you may hold, and how much you do',
  example: 'account limits',
  run: async ({ berth }) =>
    rows(
      await berth.account.limits(),
      { NAME: (each: AccountLimit) => each.name, USED: (each) => each.used, LIMIT: (each) => each.limit },
      'There is no limit',
    ),
})

const audit = verb<{ from?: string; to?: string; action?: string; token?: string }>({
  name: 'audit',
  about: 'who changed what, and what was refused, the newest first',
  options: [
    ['--from <date>', 'ISO date or time'],
    ['--to <date>', 'ISO date or time'],
    ['--action <name>', 'such as createVm'],
    ['--token <id>', 'only by this token'],
  ],
  example: 'account audit --action deleteVm',
  run: async ({ berth }, { from, to, action, token }) =>
    rows(
      await berth.account.auditLog(given({ dateFrom: from, dateTo: to, action, tokenId: token })).all(),
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
