// What a host has according to its libvirtd.
import type { Connection } from '@berth/libvirt'
import { GIB } from '../hypervisor/driver.ts'
import { readGuestTypes } from '../hypervisor/libvirt/host/guest-types.ts'
import { STORAGE_POOL } from '../hypervisor/libvirt/core/resource-names.ts'
import type { HostSize } from '../hypervisor/sellable-capacity.ts'
import { versionText } from './libvirt.ts'

export interface Facts extends HostSize {
  hostname: string
  libvirt: string
  qemu: string
  arch: string
  /** Domain types that QEMU offers for the host's architecture. */
  domainTypes: string[]
  /** Architectures, and what guests of each can have there. */
  guestTypes: string[]
}

export async function readFacts(libvirt: Connection): Promise<Facts> {
  const capabilities = await libvirt.connect.getCapabilities()
  const { cpus, memoryKiB } = await libvirt.connect.getNodeInfo()
  const arch = archIn(capabilities)
  return {
    hostname: await libvirt.connect.getHostname(),
    libvirt: versionText(await libvirt.connect.getLibVersion()),
    qemu: versionText(await libvirt.connect.getVersion()),
    arch,
    domainTypes: domainTypesIn(capabilities, arch),
    guestTypes: await readGuestTypes(libvirt),
    cpus,
    memoryMiB: Number(memoryKiB / 1024n),
    ...(await diskOf(libvirt)),
  }
}

/** What QEMU offers; the KVM probe of the driver decides whether guests really run with it. */
export const accelerationOf = ({ domainTypes }: Pick<Facts, 'domainTypes'>): 'kvm' | 'emulation' =>
  domainTypes.includes('kvm') ? 'kvm' : 'emulation'

export const archIn = (capabilities: string): string => /<host>.*?<arch>([^<]+)<\/arch>/s.exec(capabilities)?.[1] ?? 'unknown'

export function domainTypesIn(capabilities: string, arch: string): string[] {
  const guests = [...capabilities.matchAll(/<guest>.*?<\/guest>/gs)].map(([guest]) => guest)
  const own = guests.find((guest) => guest.includes(`<arch name='${arch}'>`)) ?? ''
  return [...own.matchAll(/<domain type='(\w+)'/g)].map(([, type]) => type!)
}

async function diskOf(libvirt: Connection): Promise<Pick<Facts, 'diskFreeGiB' | 'diskTakenGiB'>> {
  const pool = await libvirt.pools.lookupByName({ name: STORAGE_POOL }).catch(() => null)
  if (!pool) return { diskFreeGiB: null, diskTakenGiB: 0 }
  await libvirt.pools.refresh({ pool }).catch(() => {}) // an inactive pool reports its last known values
  const { available } = await libvirt.pools.getInfo({ pool })
  const volumes = await libvirt.pools.listAllVolumes({ pool }).catch(() => [])
  const sizes = await Promise.all(volumes.map((volume) => libvirt.volumes.getInfo({ volume }).catch(() => ({ allocation: 0n }))))
  const taken = sizes.reduce((sum, { allocation }) => sum + allocation, 0n)
  return { diskFreeGiB: inGiB(available), diskTakenGiB: inGiB(taken) }
}

const inGiB = (bytes: bigint): number => Math.floor(Number(bytes) / GIB)

/** The security drivers that libvirt uses for QEMU, such as apparmor and dac. */
export const securityModelsIn = (capabilities: string): string[] =>
  [...capabilities.matchAll(/<secmodel>\s*<model>([^<]*)<\/model>/g)].map(([, model]) => model!)
