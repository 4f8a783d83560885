import type { AuditEntry } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'
import { given } from '../../options.ts'

export const audit = verb<{ from?: string; to?: string; action?: string; token?: string }>({
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
