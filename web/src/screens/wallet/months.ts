// Months of UTC, as the ledger groups its entries.
import { locale } from '../../words/language.ts'

const HOW_MANY = 12

export const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

/** The present one and those before. */
export const latestMonths = (now: Date): string[] =>
  Array.from({ length: HOW_MANY }, (_, back) => monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back))))

export const isMonth = (text: string | undefined): text is string => text !== undefined && /^20\d\d-(0[1-9]|1[0-2])$/.test(text)

/** Its first and its last day, as the API takes them. */
export function daysOf(month: string): { dateFrom: string; dateTo: string } {
  const [year, number] = month.split('-').map(Number)
  return { dateFrom: `${month}-01`, dateTo: new Date(Date.UTC(year!, number!, 0)).toISOString().slice(0, 10) }
}

const format = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })

export const formatMonth = (month: string): string => format.format(new Date(`${month}-01T00:00:00Z`))
