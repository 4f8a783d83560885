// Formatting of numbers and dates. GB is 10^9 bytes, GiB is 2^30 bytes; every text names its unit, and no line breaks between a number and
// its unit.
import { locale } from '../words/language.ts'
import { unitMessages as w } from '../words/words.ts'

const withUnit = (value: number | string, unit: string): string => `${value}\u00a0${unit}`

const money = new Map<string, Intl.NumberFormat>()

/** Null: what members of a project are not shown. */
export function formatMoney(amount: string | number | null, currency: string): string {
  if (amount === null) return '—'
  const known = money.get(currency) ?? new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
  money.set(currency, known)
  return known.format(Number(amount))
}

/** A fact of what is left in the wallet; none for members of a project. */
export const moneyFacts = (name: string, amount: string | null, currency: string): [string, string][] =>
  amount === null ? [] : [[name, formatMoney(amount, currency)]]

const whole = new Intl.NumberFormat(locale)
const upTo1 = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false })
const digits = [0, 1, 2].map(
  (each) => new Intl.NumberFormat(locale, { minimumFractionDigits: each, maximumFractionDigits: each, useGrouping: false }),
)

export const formatNumber = (value: number): string => whole.format(value)

const trim = (value: number): string => upTo1.format(value)

const fixed = (value: number, fraction: 0 | 1 | 2): string => digits[fraction]!.format(value)

const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })

/** A part of one, as a part of a hundred. */
export const formatShare = (part: number): string => share.format(part)

/** The API reports memory in MiB. */
export const formatRam = (mebibytes: number): string =>
  mebibytes % 1024 === 0 || mebibytes > 10_240 ? withUnit(trim(mebibytes / 1024), 'GiB') : withUnit(formatNumber(mebibytes), 'MiB')

export const formatDisk = (gibibytes: number): string =>
  gibibytes >= 1024 ? withUnit(trim(gibibytes / 1024), 'TiB') : withUnit(gibibytes, 'GiB')

export const formatTraffic = (gigabytes: number): string =>
  gigabytes === 0 ? w.unmetered : gigabytes >= 1000 ? withUnit(trim(gigabytes / 1000), 'TB') : withUnit(gigabytes, 'GB')

const DECIMAL = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export function formatBytes(bytes: number | string): string {
  let value = Number(bytes)
  let unit = 0
  for (; value >= 1000 && unit < DECIMAL.length - 1; unit++) value /= 1000
  return withUnit(fixed(value, unit === 0 ? 0 : value < 10 ? 2 : 1), DECIMAL[unit]!)
}

/** Appends the version unless the name already contains it. */
export const formatOs = ({ name, version }: { name: string; version: string }): string =>
  name.includes(version) ? name : `${name} ${version}`

export const formatSpeed = (megabits: number): string =>
  megabits >= 1000 ? withUnit(trim(megabits / 1000), 'Gbit/s') : withUnit(megabits, 'Mbit/s')

interface Size {
  vcpu: number
  ram: number
  disk: number
  dedicatedCpu?: boolean
}

export const formatSize = ({ vcpu, ram, disk, dedicatedCpu = false }: Size): string =>
  `${(dedicatedCpu ? w.dedicatedVcpu : w.vcpu)(formatNumber(vcpu))} · ${formatRam(ram)} · ${formatDisk(disk)}`

const dateTime = new Intl.DateTimeFormat(locale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
})
const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

const clock = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' })
const day = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' })

/** Of an axis of time in Unix seconds: the day at midnight, and where the ticks are days apart. */
export function formatTick(seconds: number, apart: number): string {
  const at = new Date(seconds * 1_000)
  return (apart >= 86_400 || at.getHours() + at.getMinutes() === 0 ? day : clock).format(at)
}

export const formatDateTime = (iso: string): string => dateTime.format(new Date(iso))
export const formatDate = (iso: string): string => date.format(new Date(iso))
export const formatUtc = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

export function formatAgo(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000
  const [unit, size] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
  return Math.abs(seconds) < 10 ? w.justNow : relative.format(Math.round(seconds / size), unit)
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return withUnit(Math.max(0, Math.round(ms)), 'ms')
  const seconds = ms / 1_000
  if (seconds < 60) return withUnit(fixed(seconds, 1), 's')
  return `${withUnit(Math.floor(seconds / 60), 'min')} ${withUnit(Math.round(seconds % 60), 's')}`
}

/** `SNAPSHOT_CREATE` → `Snapshot create` */
export const formatConstant = (constant: string): string => {
  const words = constant.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
