import type { AccountLimit } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const limits = verb({
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
