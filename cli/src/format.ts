// Human-readable times, quantities and commands.

const pad = (number: number): string => String(number).padStart(2, '0')

/** In the local time zone. */
export function time(iso: string | null): string {
  if (iso === null) return '-'
  const date = new Date(iso)
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** Decimal units: a GB is 10^9 bytes. */
export function bytes(count: number | string | null): string {
  if (count === null) return 'unmetered'
  const value = Number(count)
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3))
  const scaled = value / 1000 ** power
  return `${power === 0 ? scaled : scaled.toFixed(1)} ${UNITS[power]}`
}

export const mebibytes = (count: number): string => (count % 1024 === 0 ? `${count / 1024} GiB` : `${count} MiB`)

/** An argument as it is typed. */
export const shellWord = (text: string): string => (/^[\w.:/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

export const labelText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')
