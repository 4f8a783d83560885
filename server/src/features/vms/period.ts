// Billing months. A VM bought on the 31st renews on the last day of shorter months and on the 31st again after them.

/** The same time of day on `day` of the month after `from`, or on that month's last day. */
export function nextRenewal(from: Date, day: number): Date {
  const next = new Date(from)
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const daysInMonth = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(day, daysInMonth))
  return next
}

/** A second that has begun counts: what is sold by the second is not given away in parts of one. */
export const secondsLeft = (from: Date, to: Date): bigint => BigInt(Math.max(0, Math.ceil((to.getTime() - from.getTime()) / 1000)))

const DAY_MS = 86_400_000

export const wholeDaysBetween = (from: Date, to: Date): bigint => BigInt(Math.max(0, Math.floor((to.getTime() - from.getTime()) / DAY_MS)))
