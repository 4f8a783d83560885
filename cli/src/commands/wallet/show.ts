import { record } from '../../answer.ts'
import { verb } from '../../command.ts'

export const show = verb({
  name: 'show',
  about: 'balance, what is due, and how long it lasts',
  example: 'wallet show',
  run: async ({ berth }) =>
    record(
      await berth.wallet.get(),
      {
        Balance: (each) => `${each.balance} ${each.currency}`,
        'Due within 7 days': (each) => `${each.dueNext7Days} ${each.currency}`,
        'Lasts for': (each) => (each.daysLeft === null ? 'nothing renews' : `${each.daysLeft} days`),
      },
      ({ balance }: { balance?: string }) => balance ?? '',
    ),
})
