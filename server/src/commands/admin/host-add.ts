// `berthd host add` checks a host over the connection that Berth will use, and registers it only when no check fails.
import { registerHost, type HostRow } from '../../features/hosts/service.ts'
import { accelerationOf, type Facts } from '../../host-setup/facts.ts'
import type { Finding } from '../../host-setup/finding.ts'
import { addressIn } from '../../hypervisor/host-address.ts'
import { endpointOf } from '../../hypervisor/libvirt/core/endpoint.ts'
import type { LocalAccess } from '../../hypervisor/local-access.ts'
import { sellableCapacity, type Capacity } from '../../hypervisor/sellable-capacity.ts'
import type { Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { findingLine, type Result } from '../output.ts'
import { openAccess, openAuthorityStore } from './authority-store.ts'
import { onlyRegion } from './only-region.ts'
import { counted } from '../../kernel/counted.ts'

export interface NewHost {
  name?: string
  region?: string
  range?: string
  networkController?: string
  dns: string[]
}

export async function add(admin: Admin, { name, region, range, networkController, dns }: NewHost, uri?: string): Promise<Result> {
  const { db, now } = admin
  const { facts, findings } = await inspectHost(admin, uri!)
  const failures = findings.filter(({ status }) => status === 'failure')
  if (!facts || failures.length > 0) throw new Error(`The host was not added.\n${findings.map(findingLine).join('\n')}`)
  const cidr = range === 'none' ? null : (range ?? (await findIssuedRange(admin, uri!)))
  const host = await db.tx(async (tx) =>
    registerHost(tx, now, {
      name: name ?? facts.hostname.split('.')[0]!.toLowerCase(),
      hostname: facts.hostname,
      ...(networkController !== undefined && { networkController }),
      region: region ?? (await onlyRegion(tx)),
      uri: uri!,
      arch: facts.arch,
      acceleration: accelerationOf(facts),
      guestTypes: facts.guestTypes,
      ...sellableCapacity(facts),
      range: cidr ? { cidr, gateway: await gatewayIn(cidr), dns } : null,
    }),
  )
  const addresses = cidr ? `public addresses from ${cidr}` : `no public addresses of its own: npx berthd ip-pool add --help`
  const lines = [
    ...findings.map(findingLine),
    `Host ${host.name} is ${host.id}: ${counted(host.vcpu_total, 'CPU')}, ${host.ram_total_mib} MiB, ${host.disk_total_gib} GiB, ${addresses}`,
  ]
  return { data: { id: host.id, name: host.name, uri, range: cidr ?? null, checks: findings }, text: lines.join('\n') }
}

/** A host on this machine has no bundle. */
async function findIssuedRange(admin: Admin, uri: string): Promise<string | undefined> {
  if (!uri.startsWith('qemu+tls:')) return undefined
  const { issuedRange } = await import('../../host-setup/issue-bundle.ts')
  return issuedRange(await openAuthorityStore(admin), addressIn(uri))
}

async function inspectHost(admin: Admin, uri: string): Promise<{ facts: Facts | null; findings: Finding[] }> {
  const { verifyHost } = await import('../../host-setup/verify.ts')
  return verifyHost(endpoint(await openAccess(admin), uri))
}

function endpoint(access: LocalAccess, uri: string): ReturnType<typeof endpointOf> {
  try {
    return endpointOf(uri, access)
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

export async function readCapacity(admin: Admin, host: HostRow): Promise<Capacity> {
  if (host.driver !== 'libvirt') throw new Error(`${host.name} is simulated: it has no capacity to read`)
  const { facts, findings } = await inspectHost(admin, host.uri)
  if (!facts) throw new Error(findings.map(findingLine).join('\n'))
  return sellableCapacity(facts)
}

async function gatewayIn(cidr: string): Promise<string> {
  const [{ parseCidr }, { gatewayOf }] = await Promise.all([import('../../kernel/cidr.ts'), import('../../host-setup/address-range.ts')])
  const range = parseCidr(cidr)
  if (!range) throw new UsageError(`${cidr} is not a range such as 10.77.0.0/16`)
  return gatewayOf(range)
}
