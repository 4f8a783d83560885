// A moment as the two fields of a form, in the browser's time zone.

const two = (number: number): string => String(number).padStart(2, '0')

export function partsOf(at: string | undefined): { day: string; time: string } {
  const moment = at === undefined ? Number.NaN : Date.parse(at)
  if (Number.isNaN(moment)) return { day: '', time: '' }
  const date = new Date(moment)
  return {
    day: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    time: [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':'),
  }
}

/** Undefined without a day; without a time, its midnight. */
export function momentOf(day: string, time: string): string | undefined {
  const moment = new Date(`${day}T${time || '00:00:00'}`)
  return day === '' || Number.isNaN(moment.getTime()) ? undefined : moment.toISOString()
}
