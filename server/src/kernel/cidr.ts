// IPv4 addresses and ranges as numbers. Only strict dotted quads are accepted: `010.0.0.1` and `10.1` are rejected.
import { isIPv4 } from 'node:net'

export interface Cidr {
  readonly base: number
  readonly prefix: number
}

export function parseAddress(text: string): number | null {
  if (!isIPv4(text)) return null
  return text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

export const formatAddress = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')

/** Host bits are masked away: `10.1.2.3/24` reads as `10.1.2.0/24`. */
export function parseCidr(text: string): Cidr | null {
  const [quad, prefixText, ...rest] = text.split('/')
  const address = parseAddress(quad ?? '')
  if (address === null || rest.length > 0 || !/^\d{1,2}$/.test(prefixText ?? '')) return null
  const prefix = Number(prefixText)
  if (prefix > 32) return null
  return { base: address - (address % sizeOf(prefix)), prefix }
}

export const formatCidr = (cidr: Cidr): string => `${formatAddress(cidr.base)}/${cidr.prefix}`

const sizeOf = (prefix: number): number => 2 ** (32 - prefix)

export const cidrSize = (cidr: Cidr): number => sizeOf(cidr.prefix)

export const lastAddress = (cidr: Cidr): number => cidr.base + cidrSize(cidr) - 1

export const contains = (cidr: Cidr, address: number): boolean => address >= cidr.base && address <= lastAddress(cidr)

const covers = (outer: Cidr, inner: Cidr): boolean => outer.prefix <= inner.prefix && contains(outer, inner.base)

export const overlap = (one: Cidr, other: Cidr): boolean => covers(one, other) || covers(other, one)

const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((text) => parseCidr(text)!)

export const isPrivate = (cidr: Cidr): boolean => PRIVATE.some((range) => covers(range, cidr))
