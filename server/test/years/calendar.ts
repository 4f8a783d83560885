// A calendar implemented from first principles, in days and seconds: independent of the code under test and of JavaScript's Date.

export const DAY = 86_400_000

export interface Civil {
  year: number
  /** 1 to 12. */
  month: number
  day: number
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

export const daysIn = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31

/** Days since 1 January 1970, counted year by year and month by month. */
function daysBefore({ year, month, day }: Civil): number {
  let days = day - 1
  for (let y = 1970; y < year; y++) days += isLeap(y) ? 366 : 365
  for (let m = 1; m < month; m++) days += daysIn(year, m)
  return days
}

export function civilOf(time: number): Civil {
  let days = Math.floor(time / DAY)
  let [year, month] = [1970, 1]
  while (days >= (isLeap(year) ? 366 : 365)) days -= isLeap(year++) ? 366 : 365
  while (days >= daysIn(year, month)) days -= daysIn(year, month++)
  return { year, month, day: days + 1 }
}

/** The same time of day in the next month, on `day` or that month's last day. */
export function monthLater(time: number, day: number): number {
  const { year, month } = civilOf(time)
  const next = month === 12 ? { year: year + 1, month: 1 } : { year, month: month + 1 }
  return daysBefore({ ...next, day: Math.min(day, daysIn(next.year, next.month)) }) * DAY + (time % DAY)
}
