// IPv4 and IPv6 addresses and ranges as numbers.

export interface IpRange {
  family: 4 | 6
  first: bigint
  last: bigint
}

/** Of an address, or of a range such as 10.0.0.0/8; undefined when it is neither. */
export function parseRange(text: string): IpRange | undefined {
  const [address = '', prefix, ...more] = text.trim().split('/')
  if (more.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined
  const family = address.includes(':') ? 6 : 4
  const value = family === 6 ? parseV6(address) : parseV4(address)
  const bits = family === 6 ? 128 : 32
  const length = prefix === undefined ? bits : Number(prefix)
  if (value === undefined || length > bits) return undefined
  const size = 1n << BigInt(bits - length)
  const first = (value / size) * size
  return { family, first, last: first + size - 1n }
}

export const contains = (range: IpRange, family: 4 | 6, address: bigint): boolean =>
  range.family === family && range.first <= address && address <= range.last

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined
  return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n)
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half) => groupsOf(half))
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  const missing = 8 - head.length - (tail?.length ?? 0)
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  return [...head, ...Array<bigint>(halves.length === 2 ? missing : 0).fill(0n), ...(tail ?? [])].reduce(
    (sum, group) => sum * 65_536n + group,
    0n,
  )
}

/** The last one may be an IPv4 address. */
function groupsOf(half: string): bigint[] | undefined {
  if (half === '') return []
  const groups: bigint[] = []
  const parts = half.split(':')
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 && part.includes('.') ? parseV4(part) : undefined
    if (v4 !== undefined) groups.push(v4 >> 16n, v4 & 0xffffn)
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`))
    else return undefined
  }
  return groups
}
