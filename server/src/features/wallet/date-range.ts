// Parses `dateFrom` and `dateTo`. A bare date is a whole day in UTC; a date-time without an offset is UTC.
import { addDuration } from '../../kernel/clock.ts'
import { invalid } from '../../kernel/errors.ts'

export interface Period {
  from: Date | null
  /** Exclusive. */
  before: Date | null
}

const FORM = /^(\d{4}-\d{2}-\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/

export function readPeriod({ dateFrom, dateTo }: { dateFrom?: string; dateTo?: string }): Period {
  const from = dateFrom === undefined ? null : readMoment('dateFrom', dateFrom).first
  const before = dateTo === undefined ? null : readMoment('dateTo', dateTo).end
  if (from && before && from >= before) throw invalid('dateFrom must not be later than dateTo', 'dateFrom')
  return { from, before }
}

/** The first instant the text covers, and the first one after it: times have millisecond precision. */
function readMoment(field: string, text: string): { first: Date; end: Date } {
  const [, day, offset] = FORM.exec(text) ?? []
  if (day === undefined || !isRealDay(day)) {
    throw invalid(`${field} must be an ISO date or date-time such as 2026-01-31 or 2026-01-31T12:00:00Z`, field)
  }
  const bare = text.length === day.length
  const first = new Date(bare || offset ? text : `${text}Z`)
  return { first, end: addDuration(first, bare ? '1d' : '1ms') }
}

/** JavaScript parses 30 February as 2 March. */
function isRealDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
