// What a dry run answers, in place of doing it.
import { Rehearsal } from '../../http/api.ts'
import { formatCents, type Cents } from '../../kernel/money.ts'
import type { Deps } from '../deps.ts'
import type { Quote } from './schema.ts'

interface Price {
  /** Below zero: given back. */
  charge: Cents
  monthly: Cents
  balanceAfter: Cents
}

export function dryRunQuote({ config: { currency } }: Pick<Deps, 'config'>, { charge, monthly, balanceAfter }: Price): Rehearsal {
  const quote: Quote = { charge: formatCents(charge), monthly: formatCents(monthly), currency, balanceAfter: formatCents(balanceAfter) }
  return new Rehearsal(quote)
}
