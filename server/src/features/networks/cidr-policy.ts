// Policy for ranges and gateways: rejects syntactically valid values that would make an unusable network.
import { contains, formatAddress, formatCidr, isPrivate, lastAddress, parseAddress, parseCidr, type Cidr } from '../../kernel/cidr.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { findOverlappingPool } from '../hosts/service.ts'

const LARGEST = 8
const SMALLEST = 30

export function requireUsableCidr(text: string): Cidr {
  const cidr = parseCidr(text)
  if (!cidr) throw new Error(`BUG: ${text} passed validation but is no range`)
  const range = formatCidr(cidr)
  if (cidr.prefix < LARGEST || cidr.prefix > SMALLEST)
    throw apiError('incompatible', `${range} cannot be used: a network must be between /${LARGEST} and /${SMALLEST}`)
  if (!isPrivate(cidr))
    throw apiError('incompatible', `${range} is not private: choose a range inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16`)
  return cidr
}

export async function refusePublicOverlap(tx: Tx, range: string): Promise<void> {
  const pool = await findOverlappingPool(tx, range)
  if (pool) throw apiError('networks_overlap', `${range} overlaps public addresses of this service (${pool.cidr}): choose another range`)
}

/** SNAT and DHCP need a host address in the network: the first one by default. */
export function chooseGateway(cidr: Cidr, given: string | null, needed: boolean): string | null {
  if (given === null) return needed ? formatAddress(cidr.base + 1) : null
  const address = parseAddress(given)
  if (address === null || !contains(cidr, address))
    throw apiError('incompatible', `The gateway ${given} does not lie in ${formatCidr(cidr)}`)
  if (address === cidr.base || address === lastAddress(cidr))
    throw apiError('incompatible', `The gateway ${given} is the first or last address of ${formatCidr(cidr)}, which no machine can have`)
  return given
}
