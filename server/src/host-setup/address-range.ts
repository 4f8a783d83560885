// Chooses the range of public addresses. It must not overlap a route of this machine, or that route's destination would become unreachable.
import { cidrSize, contains, formatAddress, formatCidr, isPrivate, parseCidr, type Cidr } from '../kernel/cidr.ts'
import { SetupError } from './setup-step.ts'

export interface Taken {
  cidr: Cidr
  /** For messages: `the route 10.0.0.0/8 by eth1`. */
  by: string
}

const FIRST = 77

export const overlap = (a: Cidr, b: Cidr): boolean => contains(a, b.base) || contains(b, a.base)

/** 10.77.0.0/16, or the next 10.x.0.0/16 that is free. */
export function freeRange(taken: Cidr[]): Cidr {
  const seconds = Array.from({ length: 256 }, (_, i) => (FIRST + i) % 256)
  const free = seconds.map((second) => parseCidr(`10.${second}.0.0/16`)!).find((range) => !taken.some((other) => overlap(range, other)))
  if (free) return free
  throw new SetupError('No 10.x.0.0/16 is free on this machine', 'choose a free range: --range 172.20.0.0/16')
}

/** The requested range, when it is usable on this machine. */
export function requireRange(text: string, taken: Taken[]): Cidr {
  const range = parseCidr(text)
  if (!range || range.prefix < 12 || range.prefix > 28) {
    throw new SetupError(`${text} is not a range from /12 to /28`, 'give one such as --range 10.77.0.0/16')
  }
  if (!isPrivate(range)) {
    throw new SetupError(
      `${formatCidr(range)} is not private, but this host translates the addresses of its VMs (NAT)`,
      'choose one inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16',
    )
  }
  const other = taken.find(({ cidr }) => overlap(cidr, range))
  if (!other) return range
  throw new SetupError(
    `${formatCidr(range)} overlaps ${other.by}`,
    `choose another, such as --range ${formatCidr(freeRange(taken.map(({ cidr }) => cidr)))}`,
  )
}

/** The first address of the range is the host's, which VMs use as gateway. */
export const gatewayOf = (range: Cidr): string => formatAddress(range.base + 1)

export interface Route {
  dst: string
  dev?: string
}

/** From `ip -json route`. A default route reserves no range. */
export function takenByRoutes(routes: Route[], except: readonly string[]): Taken[] {
  return routes.flatMap(({ dst, dev = 'nothing' }) => {
    const cidr = parseCidr(dst.includes('/') ? dst : `${dst}/32`)
    return cidr && cidr.prefix > 0 && !except.includes(dev) ? [{ cidr, by: `the route ${formatCidr(cidr)} by ${dev}` }] : []
  })
}

/** Resolvers are often reached over the default route, so no route shows their range. */
export const takenByResolvers = (resolvConf: string): Taken[] =>
  [...resolvConf.matchAll(/^nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/gm)].flatMap(([, address]) => {
    const cidr = parseCidr(`${address}/32`)
    return cidr && cidrSize(cidr) === 1 ? [{ cidr, by: `the resolver ${address}` }] : []
  })
