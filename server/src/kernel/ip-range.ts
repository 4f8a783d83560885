// Addresses and ranges of either family. An address is a range of one.
import { isIP } from 'node:net'

export interface IpRange {
  readonly family: 4 | 6
  readonly base: bigint
  readonly prefix: number
}

const BITS = { 4: 32, 6: 128 }

/** Host bits are masked away: `2001:db8::1/32` reads as `2001:db8::/32`. */
export function parseIpRange(text: string): IpRange | null {
  const [address = '', prefixText, ...rest] = text.split('/')
  const family = isIP(address) as 0 | 4 | 6
  if (family === 0 || address.includes('%') || rest.length > 0 || !/^\d{1,3}$/.test(prefixText ?? '0')) return null
  const prefix = Number(prefixText ?? BITS[family])
  if (prefix > BITS[family]) return null
  const hostBits = BigInt(BITS[family] - prefix)
  return { family, base: (numberOf(family, address) >> hostBits) << hostBits, prefix }
}

/** Of an address without prefix. */
export const parseIp = (text: string): IpRange | null => (text.includes('/') ? null : parseIpRange(text))

/** In the form of RFC 5952; without prefix for an address. */
export function formatIpRange({ family, base, prefix }: IpRange): string {
  const count = BITS[family] / (family === 4 ? 8 : 16)
  const width = BITS[family] / count
  const groups = Array.from({ length: count }, (_, i) => (base >> BigInt(width * (count - 1 - i))) & ((1n << BigInt(width)) - 1n))
  const address = family === 4 ? groups.join('.') : canonical(groups.map((group) => group.toString(16)).join(':'))
  return prefix === BITS[family] ? address : `${address}/${prefix}`
}

export function rangeContains(outer: IpRange, inner: IpRange): boolean {
  if (outer.family !== inner.family || outer.prefix > inner.prefix) return false
  const hostBits = BigInt(BITS[outer.family] - outer.prefix)
  return inner.base >> hostBits === outer.base >> hostBits
}

export const rangesOverlap = (one: IpRange, other: IpRange): boolean => rangeContains(one, other) || rangeContains(other, one)

/** All addresses of the family that lie in none of the ranges, as few ranges. */
export function complementOf(family: 4 | 6, ranges: readonly IpRange[]): IpRange[] {
  const outside = (within: IpRange, overlapping: readonly IpRange[]): IpRange[] => {
    const inside = overlapping.filter((each) => rangesOverlap(each, within))
    if (inside.length === 0) return [within]
    if (inside.some((each) => rangeContains(each, within))) return []
    return halvesOf(within).flatMap((half) => outside(half, inside))
  }
  return outside({ family, base: 0n, prefix: 0 }, ranges)
}

const halvesOf = ({ family, base, prefix }: IpRange): IpRange[] =>
  [base, base + (1n << BigInt(BITS[family] - prefix - 1))].map((each) => ({ family, base: each, prefix: prefix + 1 }))

/** The same addresses as few ranges. */
export const mergeRanges = (family: 4 | 6, ranges: readonly IpRange[]): IpRange[] => complementOf(family, complementOf(family, ranges))

function numberOf(family: 4 | 6, address: string): bigint {
  if (family === 4) return address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
  const [left, right] = canonical(address)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - left!.length - (right?.length ?? 0)).fill('0')
  return [...left!, ...zeros, ...(right ?? [])].reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n)
}

const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)
