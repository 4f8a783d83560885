// Issues the bundle of a host: its certificate and its address range. Ranges are recorded when they are issued, because the host is
// registered only later.
import { join } from 'node:path'
import { parseCidr, formatCidr, type Cidr } from '../kernel/cidr.ts'
import { chassisName } from '../hypervisor/host-address.ts'
import { isAddress } from '../hypervisor/network-controller-address.ts'
import { openAuthority, peerName, pkiFolder, type Authority } from './certificate-authority.ts'
import type { Bundle, ChassisBundle, ControllerBundle } from './setup-step.ts'
import { freeRange } from './address-range.ts'
import { readFileOrNull, writeFileAtomic } from './shell.ts'

type Issued = Record<string, string>

const issuedFile = (dataDir: string): string => join(pkiFolder(dataDir), 'ranges.json')

const readIssued = async (dataDir: string): Promise<Issued> => JSON.parse((await readFileOrNull(issuedFile(dataDir))) ?? '{}') as Issued

export const issuedRange = async (dataDir: string, address: string): Promise<string | undefined> => (await readIssued(dataDir))[address]

/** `controllers`: of the region's OVN; null: the host has one of its own, and is alone in its region. */
export async function issueBundle(
  dataDir: string,
  address: string,
  { regionId, inUse, controllers }: { regionId: string; inUse: string[]; controllers: string[] | null },
  out: string,
): Promise<Bundle> {
  requireAddress(address)
  const authority = await openAuthority(dataDir)
  const issued = await readIssued(dataDir)
  const range = issued[address] ?? formatCidr(freeRange(ranges([...inUse, ...Object.values(issued)])))
  const bundle = {
    address,
    ca: authority.ca,
    ...(await authority.issue(address)),
    crl: authority.crl,
    allowedName: `CN=${authority.name}`,
    range,
    chassis: controllers && (await chassisBundle(authority, address, controllers)),
    peers: controllers && {
      allowedName: `CN=${peerName(regionId)}`,
      libvirt: await authority.issuePeer(address, regionId),
      qemu: await authority.issueMigration(address, regionId),
    },
  }
  await writeFileAtomic(issuedFile(dataDir), JSON.stringify({ ...issued, [address]: range }), 0o600)
  await writeFileAtomic(out, `${JSON.stringify(bundle)}\n`, 0o600)
  return bundle
}

async function chassisBundle(authority: Authority, address: string, controllers: string[]): Promise<ChassisBundle> {
  const name = chassisName(address)
  return { name, controllers, ca: authority.networkCa, ...(await authority.issueChassis(name)) }
}

/** Of a machine that shall hold the databases of a region's OVN; `members` are all of them, this one included. */
export async function issueControllerBundle(dataDir: string, address: string, members: string[], out: string): Promise<ControllerBundle> {
  for (const each of [address, ...members]) requireAddress(each)
  const authority = await openAuthority(dataDir)
  const bundle = {
    address,
    members,
    ca: authority.networkCa,
    chassisCa: authority.chassisCa,
    ...(await authority.issueController(address)),
  }
  await writeFileAtomic(out, `${JSON.stringify(bundle)}\n`, 0o600)
  return bundle
}

function requireAddress(text: string): void {
  if (!isAddress(text)) throw new Error(`"${text}" is neither an address nor a name`)
}

const ranges = (texts: string[]): Cidr[] => texts.flatMap((text) => parseCidr(text) ?? [])
