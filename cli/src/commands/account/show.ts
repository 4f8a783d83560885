import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'

export const show = verb({
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
