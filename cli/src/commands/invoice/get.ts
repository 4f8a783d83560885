import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'

export const get = verb({
  name: 'get',
  about: 'show an invoice, named by its number, month or id',
  args: '<invoice>',
  example: 'invoice get INV-000042',
  run: async (call, _, invoice: string) =>
    record(await call.berth.invoices.get(await call.id('invoice', invoice)), {
      Number: (each) => each.number,
      Month: (each) => each.month,
      Charged: (each) => `${each.charged} ${each.currency}`,
      Paid: (each) => `${each.paid} ${each.currency}`,
      Balance: (each) => `${each.closingBalance} ${each.currency}`,
      Entries: (each) => each.lines.length,
      Issued: (each) => time(each.issuedAt),
      'To print': (each) => each.pageUrl,
    }),
})
