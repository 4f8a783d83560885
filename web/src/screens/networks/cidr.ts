// Describes a CIDR range while the user types.
import { formatNumber } from '../../ui/format.ts'
import { networkMessages } from '../../words/words.ts'

const w = networkMessages.helper

const toNumber = (address: string): number => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
const toAddress = (number: number): string => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

const PRIVATE: [string, number][] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
]

const maskOf = (number: number, length: number): number => number - (number % 2 ** (32 - length))

export function describeCidr(cidr: string): string {
  const match = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(cidr)
  if (!match || match[1]!.split('.').some((octet) => Number(octet) > 255)) return w.invalid
  const length = Number(match[2])
  if (length < 8 || length > 30) return w.size
  const first = maskOf(toNumber(match[1]!), length)
  if (!PRIVATE.some(([base, size]) => size <= length && maskOf(first, size) === toNumber(base))) return w.public
  const usable = 2 ** (32 - length) - 3
  const masked = `${toAddress(first)}/${length}`
  const prefix = masked === cidr ? '' : `${w.masked(masked)} `
  return prefix + w.usable(formatNumber(usable), toAddress(first + 2), toAddress(first + 2 ** (32 - length) - 2))
}
