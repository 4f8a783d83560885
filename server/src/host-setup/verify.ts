// Checks a host over the connection that Berth will use, before it is registered. Leaves nothing changed.
import { randomUUID } from 'node:crypto'
import { ErrorCode, PoolState, type Connection, type Endpoint } from '@berth/libvirt'
import { STORAGE_POOL } from '../hypervisor/libvirt/core/resource-names.ts'
import { systemClock } from '../kernel/clock.ts'
import { readFacts, type Facts } from './facts.ts'
import { failure, ok, warning, type Finding } from './finding.ts'
import { found, withLibvirt } from './libvirt.ts'

const PREPARE = 'run on that host: berthd host prepare'
const MIN_LIBVIRT = 8
const MIN_FREE_GIB = 5

export interface Verified {
  findings: Finding[]
  /** Null when it could not be reached. */
  facts: Facts | null
}

export async function verifyHost(endpoint: Endpoint): Promise<Verified> {
  const findings: Finding[] = []
  try {
    return await withLibvirt(async (libvirt) => {
      const facts = await readFacts(libvirt)
      findings.push(ok(`reached ${facts.hostname} at ${endpoint.description}`), version(facts), guests(facts))
      findings.push(await pool(libvirt), space(facts))
      if (findings.every(({ status }) => status !== 'failure')) findings.push(await clock(libvirt))
      return { findings, facts }
    }, endpoint)
  } catch (error) {
    return { findings: [...findings, unreachable(endpoint.description, error as Error)], facts: null }
  }
}

/** Known failures of the first connection, with their fixes. */
const REASONS: [RegExp, string][] = [
  [/has no certificates yet/, 'issue the certificates: npx berthd host certificate --address <host> --out bundle'],
  [
    /does not accept our certificate/,
    'the host trusts another control plane: issue a bundle here, and run on the host: berthd host prepare --certificate bundle',
  ],
  [/certificate revoked/, 'its certificate is revoked: issue another one, and run on the host: berthd host prepare --certificate bundle'],
  [/expired|not yet valid/i, 'renew it: npx berthd host certificate --address <host> --out bundle; and check the clocks of both machines'],
  [
    /altname|IP: .* is not in the cert|does not match/i,
    'its certificate is for another address: issue one for this address: npx berthd host certificate --address <host> --out bundle',
  ],
  [
    /self.signed|unable to (get|verify)|issuer/i,
    'its certificate is not of this control plane: issue a bundle here, and run on the host: berthd host prepare --certificate bundle',
  ],
  [/ECONNREFUSED/, 'libvirtd does not listen there; run on that host: berthd host prepare --certificate bundle'],
  [/ETIMEDOUT|timed out|EHOSTUNREACH|ENETUNREACH|no answer|within/i, 'check that the host is up and that no firewall drops port 16514'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name cannot be resolved: use its IP address'],
  [/EACCES|ENOENT/, 'libvirtd is not running on this machine, or this user may not use it: sudo npx berthd host prepare'],
]

export function unreachable(description: string, error: Error): Finding {
  const text = [error.message, (error.cause as Error | undefined)?.message].filter(Boolean).join(': ')
  return failure(`${description} cannot be reached: ${text}`, REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? PREPARE)
}

const version = ({ libvirt, qemu }: Facts): Finding =>
  Number.parseInt(libvirt) >= MIN_LIBVIRT
    ? ok(`libvirt ${libvirt}, QEMU ${qemu}`)
    : failure(`libvirt ${libvirt} is too old: ${MIN_LIBVIRT}.0 or later is needed`, 'install Debian 12, or Ubuntu 22.04 or later')

function guests({ arch, domainTypes, guestTypes }: Facts): Finding {
  const more = guestTypes.filter((type) => type !== arch)
  const offered = more.length === 0 ? '' : `, also ${more.join(', ')}`
  if (domainTypes.includes('kvm')) return ok(`KVM for ${arch} guests${offered}`)
  if (domainTypes.includes('qemu'))
    return warning(`no KVM: ${arch} guests are emulated, slower${offered}`, 'run on that host: npx berthd doctor kvm')
  return failure(`QEMU for ${arch} is not installed`, PREPARE)
}

async function pool(libvirt: Connection): Promise<Finding> {
  const known = await found(libvirt.pools.lookupByName({ name: STORAGE_POOL }), ErrorCode.noStoragePool)
  if (!known) return failure(`the host has no storage pool ${STORAGE_POOL}`, PREPARE)
  const { state } = await libvirt.pools.getInfo({ pool: known })
  return state === PoolState.running
    ? ok(`storage pool ${STORAGE_POOL}`)
    : failure(`the storage pool ${STORAGE_POOL} is not active`, PREPARE)
}

function space({ diskFreeGiB }: Facts): Finding {
  const message = `${diskFreeGiB ?? 0} GiB free for disks`
  return (diskFreeGiB ?? 0) >= MIN_FREE_GIB
    ? ok(message)
    : failure(message, `at least ${MIN_FREE_GIB} GiB are needed: free some space, or prepare the host with --pool-path on a larger disk`)
}

const WARNING_MS = 2_000
const FAILURE_MS = 60_000

/** libvirt has no call for the host's time, but the mtime of a new volume shows it. */
async function clock(libvirt: Connection): Promise<Finding> {
  const known = await libvirt.pools.lookupByName({ name: STORAGE_POOL })
  const before = systemClock.now().getTime()
  const xml = `<volume><name>berth-clock-${randomUUID()}</name><capacity>0</capacity><target><format type='raw'/></target></volume>`
  const volume = await libvirt.volumes.create({ pool: known, xml })
  const after = systemClock.now().getTime()
  const seconds = /<mtime>([\d.]+)<\/mtime>/.exec(await libvirt.volumes.getXml({ volume }))?.[1]
  await libvirt.volumes.delete({ volume })
  return clockFinding(Number(seconds) * 1000, before, after)
}

export function clockFinding(there: number, before: number, after: number): Finding {
  const apartMs = Math.max(0, before - there, there - after)
  if (apartMs < WARNING_MS) return ok('its clock agrees with this machine')
  const message = `its clock is ${(apartMs / 1000).toFixed(1)} s apart from this machine`
  const fix = 'synchronise both machines with NTP: timedatectl set-ntp true'
  return apartMs < FAILURE_MS ? warning(message, fix) : failure(message, fix)
}
