// A real host with two drivers, for tests that need no booted guest.
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import type { Driver, MachineSpec } from '../src/hypervisor/driver.ts'
import { libvirtDrivers } from '../src/hypervisor/libvirt/driver.ts'
import { directAccess } from '../src/hypervisor/local-access.ts'
import { newId } from '../src/kernel/ids.ts'
import { openLibvirtHost, type LibvirtHost } from './libvirt-host.ts'
import { tinyImage } from './tiny-image.ts'

const TIMEOUT_MS = 150_000

export const soon = (): AbortSignal => AbortSignal.timeout(TIMEOUT_MS)

export interface Proof {
  host: LibvirtHost
  driver: Driver
  /** A second driver, as another process would have. */
  other: Driver
  /** A new VM each time. */
  spec(): MachineSpec
  /** Started without waiting for the boot, and without a port: nothing passes its interface. */
  start(spec: MachineSpec): Promise<void>
  close(): Promise<void>
}

export async function openProof(uriOf?: (host: LibvirtHost) => Promise<string>): Promise<Proof> {
  const image = await tinyImage()
  const host = await openLibvirtHost()
  const uri = (await uriOf?.(host)) ?? host.uri
  const images = { open: () => Promise.resolve(image) }
  const open = libvirtDrivers({ log: pino({ level: 'silent' }), images, access: directAccess() })
  const [driver, other] = [open({ id: 'host', driver: 'libvirt', uri }), open({ id: 'host', driver: 'libvirt', uri })]
  const template = { id: 'tiny', slug: 'tiny', checksum: image.checksum, arch: image.arch, hasAgent: true }
  let machines = 1
  return {
    host,
    driver,
    other,
    spec: () => specOf(template, host.gateway, ++machines),
    start: async (spec) => {
      await driver.ensureDisk(spec, { from: 'template' }, soon())
      await driver.ensureRunning(spec, soon())
    },
    close: async () => {
      await Promise.all([driver.close(), other.close()])
      await host.close()
    },
  }
}

const specOf = (template: MachineSpec['template'], gateway: string, number: number): MachineSpec => ({
  vmId: newId(),
  uuid: randomUUID(),
  accountId: newId(),
  generation: 1,
  vcpu: 1,
  ramMiB: 256,
  cpus: null,
  diskLimits: { iops: null, miBPerSecond: null },
  diskGiB: 1,
  storageId: null,
  template,
  seed: { hostname: `guest-${number}`, user: 'root', sshKeys: [], passwordHash: null },
  nics: [
    {
      mac: `52:54:00:00:77:0${number}`,
      kind: 'public',
      networkId: null,
      ipv4: { address: `10.77.0.${number}`, prefix: 16, gateway },
      ipv6: null,
      dns: [],
    },
  ],
  volumes: [],
})
