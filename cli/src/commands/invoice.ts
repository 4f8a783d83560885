import type { InvoiceSummary } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { details, table } from '../result.ts'

const list = defineCommand({
  name: 'list',
  description: 'list invoices, newest first',
  example: 'invoice list',
  lists: true,
  run: async (ctx) =>
    table(
      await ctx.list(ctx.berth.invoices.list()),
      {
        NUMBER: (each: InvoiceSummary) => each.number,
        MONTH: (each) => each.month,
        CHARGED: (each) => `${each.charged} ${each.currency}`,
        PAID: (each) => `${each.paid} ${each.currency}`,
        BALANCE: (each) => `${each.closingBalance} ${each.currency}`,
      },
      'No invoices yet. An invoice is issued at the end of each month',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show an invoice by number, month or id',
  args: '<invoice>',
  example: 'invoice get INV-000042',
  run: async (ctx, _, invoice: string) =>
    details(await ctx.berth.invoices.get(await ctx.resolveId('invoice', invoice)), {
      Number: (each) => each.number,
      Month: (each) => each.month,
      Charged: (each) => `${each.charged} ${each.currency}`,
      Paid: (each) => `${each.paid} ${each.currency}`,
      Balance: (each) => `${each.closingBalance} ${each.currency}`,
      Entries: (each) => each.lines.length,
      Issued: (each) => time(each.issuedAt),
      'Printable page': (each) => each.pageUrl,
    }),
})

export const invoice = group('invoice', 'monthly invoices', [list, get])
