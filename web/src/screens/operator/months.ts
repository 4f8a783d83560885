// Months of UTC, such as 2027-03.

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/

export const isMonth = (text: string | undefined): text is string => text !== undefined && MONTH.test(text)

export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7)

export function shiftMonth(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7)
}
