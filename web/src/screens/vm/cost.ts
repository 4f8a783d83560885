// Sums of what the ledger and the bills say, in cents: amounts are decimals with two places.
import type { Transaction } from '@berth/sdk'

const toCents = (amount: string): number => Math.round(Number(amount) * 100)
const toAmount = (cents: number): string => (cents / 100).toFixed(2)

/** The first moment of the month, in UTC as in invoices. */
export const monthStart = (now: number): Date => {
  const date = new Date(now)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1))
}

/** What was charged less what was given back. */
export const spent = (transactions: Pick<Transaction, 'amount'>[]): string =>
  toAmount(-transactions.reduce((sum, { amount }) => sum + toCents(amount), 0))

interface Priced {
  billing: { priceMonthly: string; nextRenewalAt: string }
}

/** What renewals will charge until the month ends. */
export function toCome(things: Priced[], now: number): string {
  const end = monthStart(monthStart(now).getTime() + 32 * 86_400_000).getTime()
  const due = things.filter(({ billing: { nextRenewalAt } }) => Date.parse(nextRenewalAt) >= now && Date.parse(nextRenewalAt) < end)
  return monthly(due)
}

export const monthly = (things: Priced[]): string => toAmount(things.reduce((sum, { billing }) => sum + toCents(billing.priceMonthly), 0))

export const total = (...amounts: string[]): string => toAmount(amounts.reduce((sum, amount) => sum + toCents(amount), 0))
