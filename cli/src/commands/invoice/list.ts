import type { InvoiceSummary } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const list = verb({
  name: 'list',
  about: 'list invoices, the newest first',
  example: 'invoice list',
  run: async ({ berth }) =>
    rows(
      await berth.invoices.list().all(),
      {
        NUMBER: (each: InvoiceSummary) => each.number,
        MONTH: (each) => each.month,
        CHARGED: (each) => `${each.charged} ${each.currency}`,
        PAID: (each) => `${each.paid} ${each.currency}`,
        BALANCE: (each) => `${each.closingBalance} ${each.currency}`,
      },
      'There is none yet: an invoice is made when a month is over',
    ),
})
