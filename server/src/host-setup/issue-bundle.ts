// Issues the bundle of a host: its certificate and its address range. Ranges are recorded when they are issued, because the host is
// registered only later.
import { join } from 'node:path'
import { parseCidr, formatCidr, type Cidr } from '../kernel/cidr.ts'
import { chassisName } from '../hypervisor/host-address.ts'
import { isAddress } from '../hypervisor/network-controller-address.ts'
import { readAuthorityFiles, withAuthorityFiles, type AuthorityStore } from './authority-files.ts'
import { openAuthority, peerName, type Authority } from './certificate-authority.ts'
import type { Bundle, ChassisBundle, ControllerBundle } from './setup-step.ts'
import { freeRange } from './address-range.ts'
import { readFileOrNull, writeFileAtomic } from './shell.ts'

type Issued = Record<string, string>

const ISSUED = 'ranges.json'

const parse = (text: string | null | undefined): Issued => JSON.parse(text ?? '{}') as Issued

export const issuedRange = async (store: AuthorityStore, address: string): Promise<string | undefined> =>
  parse((await readAuthorityFiles(store, [ISSUED])).get(ISSUED))[address]

/** The one that it has already, or a free one. */
const reserveRange = (store: AuthorityStore, address: string, inUse: string[]): Promise<string> =>
  withAuthorityFiles(store, async (folder) => {
    const issued = parse(await readFileOrNull(join(folder, ISSUED)))
    const range = issued[address] ?? formatCidr(freeRange(ranges([...inUse, ...Object.values(issued)])))
    await writeFileAtomic(join(folder, ISSUED), JSON.stringify({ ...issued, [address]: range }), 0o600)
    return range
  })

interface BundleOrder {
  regionId: string
  inUse: string[]
  /** Of the region's OVN; null: the host has one of its own, and is alone in its region. */
  controllers: string[] | null
}

export async function issueBundle(store: AuthorityStore, address: string, order: BundleOrder, out: string): Promise<Bundle> {
  const bundle = await makeBundle(store, address, order)
  await writeBundle(out, bundle)
  return bundle
}

export async function makeBundle(store: AuthorityStore, address: string, { regionId, inUse, controllers }: BundleOrder): Promise<Bundle> {
  requireAddress(address)
  const authority = await openAuthority(store)
  const range = await reserveRange(store, address, inUse)
  return {
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
}

const writeBundle = (out: string, bundle: object): Promise<void> => writeFileAtomic(out, `${JSON.stringify(bundle)}\n`, 0o600)

async function chassisBundle(authority: Authority, address: string, controllers: string[]): Promise<ChassisBundle> {
  const name = chassisName(address)
  return { name, controllers, ca: authority.networkCa, ...(await authority.issueChassis(name)) }
}

/** Of a machine that shall hold the databases of a region's OVN; `members` are all of them, this one included. */
export async function issueControllerBundle(
  store: AuthorityStore,
  address: string,
  members: string[],
  out: string,
): Promise<ControllerBundle> {
  for (const each of [address, ...members]) requireAddress(each)
  const authority = await openAuthority(store)
  const bundle = {
    address,
    members,
    ca: authority.networkCa,
    chassisCa: authority.chassisCa,
    ...(await authority.issueController(address)),
  }
  await writeBundle(out, bundle)
  return bundle
}

function requireAddress(text: string): void {
  if (!isAddress(text)) throw new Error(`"${text}" is neither an address nor a name`)
}

const ranges = (texts: string[]): Cidr[] => texts.flatMap((text) => parseCidr(text) ?? [])
