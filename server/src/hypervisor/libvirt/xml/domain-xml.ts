// Domain XML: of VMs, from ids, numbers and allocated addresses only (text chosen by customers is in the cloud-init seed); and of paused
// helper domains with one disk, for work on a disk that only QEMU can do.
import {
  OWN_DISK_SERIAL,
  systemOf,
  volumeSerial,
  type Acceleration,
  type Arch,
  type ComputeSize,
  type DiskLimits,
  type Firmware,
  type MachineSpec,
} from '../../driver.ts'
import { seclabelXml } from '../core/guest-user.ts'
import { pinXml } from './cpu-xml.ts'
import { DRIVE, driveControllerXml, driveXml, isoIdIn } from './drive-xml.ts'
import { domainName } from '../core/resource-names.ts'
import { element, type Element, type Xml } from '../core/xml.ts'
import { type Metadata, metadataXml } from './domain-metadata.ts'
import { interfaceXml } from './interface-xml.ts'
import { limitsOf, limitsXml, UNLIMITED } from './limits-xml.ts'
import { nodeXml, sizeXml } from './size-xml.ts'

export interface DomainOptions {
  acceleration: Acceleration
  /** How large it can get while it runs. */
  room: ComputeSize
  /** Whether guests may leave checksums and segments to their interfaces. */
  canOffload: boolean
  disk: DiskFile | RbdDisk
  /** Of its rescue system, where the spec has one. */
  rescueDisk?: DiskFile | RbdDisk
  /** Of the system that it starts. */
  seedPath: string
  volumes: AttachedVolume[]
  /** Path of the ISO image that is in its drive. */
  isoPath?: string
  /** Of all QEMUs; null where the host cannot start each as its own user. */
  guestGroup: number | null
  remembered: Pick<Metadata, 'restartId' | 'stop' | 'startId'>
}

export interface DiskFile {
  path: string
  /** The template that it is a layer on; null for a copy. */
  backing: string | null
}

/** In a storage backend. */
export interface RbdDisk {
  /** `pool/image`. */
  name: string
  /** `host` or `host:port`. */
  monitors: string[]
  user: string
  /** Of libvirt, with the user's key. */
  secretUuid: string
}

/** Of a customer. */
export interface AttachedVolume {
  id: string
  source: DiskFile | RbdDisk
}

/** Two disks, an interface, agent, memory and entropy take six; the others are for interfaces and volumes attached later. */
const SLOTS = 20

export function domainXml(spec: MachineSpec, options: DomainOptions): Xml {
  const { arch, firmware } = systemOf(spec)
  const { tpm } = spec.template // also beside a rescue system: the state of a TPM is deleted with a definition that has one
  return element(
    'domain',
    { type: options.acceleration === 'kvm' ? 'kvm' : 'qemu' },
    element('name', {}, domainName(spec.vmId)),
    element('uuid', {}, spec.uuid),
    element('metadata', {}, metadataXml(metadataFor(spec, options.remembered), 'definition')),
    ...sizeXml(spec, options.room),
    ...pinXml(spec.cpus, spec.vcpu),
    ...processorXml(arch, options.acceleration, nodeXml(spec, options.room), firmware ?? defaultFirmware(arch)),
    element('clock', { offset: 'utc' }),
    element('on_poweroff', {}, 'destroy'),
    element('on_reboot', {}, 'restart'),
    element('on_crash', {}, 'destroy'),
    arch === 'x86_64' && sleeplessXml,
    seclabelXml(spec.vmId, options.guestGroup),
    element(
      'devices',
      {},
      options.rescueDisk
        ? rescuedDiskXml(options.disk, spec.diskLimits)
        : diskXml(options.disk, spec.diskLimits, options.isoPath === undefined ? 1 : 2),
      options.rescueDisk && rescueDiskXml(options.rescueDisk, spec.diskLimits),
      seedXml(options.seedPath),
      options.isoPath !== undefined && driveXml(options.isoPath, arch, spec.diskLimits),
      options.isoPath !== undefined && driveControllerXml(arch),
      options.volumes.map((volume, index) => volumeDiskXml(volume, volumeTargets[index]!, spec.diskLimits)),
      spec.nics.map((nic) => interfaceXml(nic, options.canOffload)),
      platformXml(arch, options.rescueDisk || options.isoPath !== undefined ? SLOTS + 1 : SLOTS),
      tpm && tpmXml(arch),
    ),
  )
}

/** Disables ACPI sleep: a sleeping guest looks paused, and nothing would wake it. The aarch64 machine has none, and rejects the element. */
const sleeplessXml = element('pm', {}, element('suspend-to-mem', { enabled: 'no' }), element('suspend-to-disk', { enabled: 'no' }))

const metadataFor = (spec: MachineSpec, remembered: DomainOptions['remembered']): Metadata => ({
  vmId: spec.vmId,
  accountId: spec.accountId,
  generation: spec.generation,
  rescue: spec.rescue?.generation ?? null,
  templateId: spec.template.id,
  hasAgent: systemOf(spec).hasAgent,
  ...remembered,
})

export const MACHINE: Record<Arch, string> = { x86_64: 'q35', aarch64: 'virt' }

/** Firmware, features and processor, which differ by architecture. */
export function processorXml(
  arch: Arch,
  acceleration: Acceleration,
  nodes: Xml | false = false,
  firmware: Firmware = defaultFirmware(arch),
): Xml[] {
  const isArm = arch === 'aarch64'
  const machine = element('type', { arch, machine: MACHINE[arch] }, 'hvm')
  return [
    // Without this element EFI firmware shows its menu for some seconds before it boots.
    firmware === 'bios'
      ? element('os', {}, machine, element('bootmenu', { enable: 'no' }))
      : element('os', { firmware: 'efi' }, machine, signaturesXml(firmware), element('bootmenu', { enable: 'yes', timeout: 0 })),
    element(
      'features',
      {},
      element('acpi'),
      isArm ? acceleration === 'emulation' && element('gic', { version: 3 }) : element('apic'),
      firmware === 'secure-boot' && element('smm', { state: 'on' }),
    ),
    acceleration === 'kvm' ? element('cpu', { mode: isArm ? 'host-passthrough' : 'host-model' }, nodes) : emulatedCpu(arch, nodes),
  ]
}

export const defaultFirmware = (arch: Arch): Firmware => (arch === 'x86_64' ? 'bios' : 'uefi')

/** With the keys that distributions sign for, whose firmware alone starts only what is signed. */
const signaturesXml = (firmware: Firmware): Xml => {
  const features = firmware === 'secure-boot' ? { 'secure-boot': 'yes', 'enrolled-keys': 'yes' } : { 'secure-boot': 'no' }
  return element('firmware', {}, ...Object.entries(features).map(([name, enabled]) => element('feature', { enabled, name })))
}

/** Its state is a folder of the host named after the machine's UUID, which libvirt moves with the machine and deletes with its definition. */
const tpmXml = (arch: Arch): Xml =>
  element('tpm', { model: arch === 'x86_64' ? 'tpm-crb' : 'tpm-tis' }, element('backend', { type: 'emulator', version: '2.0' }))

/** Models that are cheap to emulate and that current distributions still support. Newer ARM models authenticate pointers, which takes twice as
 *  long under emulation. */
const emulatedCpu = (arch: Arch, nodes: Xml | false): Xml =>
  element(
    'cpu',
    { mode: 'custom', match: 'exact' },
    element('model', { fallback: 'allow' }, arch === 'aarch64' ? 'cortex-a57' : 'Nehalem'),
    nodes,
  )

/** A write that finds the pool full pauses the guest, which loses nothing and is resumed when there is room (vms.power_sync); reported to the
 *  guest, it would make its filesystem read-only. Other errors are the guest's to handle. */
const ON_ERROR = { error_policy: 'enospace', rerror_policy: 'report' }

export const diskXml = (disk: DiskFile | RbdDisk, limits: DiskLimits = UNLIMITED, order = 1): Xml =>
  virtioDiskXml(disk, 'vda', limitsXml(limits), element('boot', { order }))

/** Nothing starts from it. */
const rescuedDiskXml = (disk: DiskFile | RbdDisk, limits: DiskLimits): Xml =>
  virtioDiskXml(disk, 'vda', limitsXml(limits), element('serial', {}, OWN_DISK_SERIAL))

/**
 * Before all others on the bus, so that the guest has it as its first disk, whatever the name: some small images look for their root there. The name `vda`
 * stays with the machine's own disk, and with it what is done to that by name: limits, growth, snapshots and backups.
 */
const rescueDiskXml = (disk: DiskFile | RbdDisk, limits: DiskLimits): Xml =>
  virtioDiskXml(
    disk,
    'vdaa',
    limitsXml(limits),
    element('boot', { order: 1 }),
    element('address', { type: 'pci', domain: '0x0000', bus: '0x01', slot: '0x00', function: '0x0' }),
  )

const virtioDiskXml = (disk: DiskFile | RbdDisk, dev: string, ...more: (Xml | false)[]): Xml =>
  element(
    'disk',
    { type: 'path' in disk ? 'file' : 'network', device: 'disk' },
    element('driver', { name: 'qemu', type: 'path' in disk ? 'qcow2' : 'raw', cache: 'writeback', ...ON_ERROR, discard: 'unmap' }),
    'path' in disk ? [element('source', { file: disk.path }), backingXml(disk.backing)] : rbdXml(disk),
    element('target', { dev, bus: 'virtio' }),
    ...more,
  )

/** After the machine's own disk and its seed. A guest finds a volume by its serial, whichever it has. */
const volumeTargets = Array.from('cdefghijklmnopqrstuvwxyz', (letter) => `vd${letter}`)

export const volumeDiskXml = ({ id, source }: AttachedVolume, target: string, limits: DiskLimits): Xml =>
  virtioDiskXml(source, target, limitsXml(limits), element('serial', {}, volumeSerial(id)))

/** A volume as a domain has it. */
export interface VolumeDisk {
  id: string
  generation: number
  target: string
}

export const volumesOf = (domain: Element): VolumeDisk[] =>
  domain.all('devices/disk').flatMap((disk) => {
    const source = disk.attribute('source/file') ?? disk.attribute('source/name') ?? ''
    const [, id, generation = 0] = /(?:^|\/)volume-([a-z0-9]+)(?:-(\d+))?(?:\.qcow2)?$/.exec(source) ?? []
    return id === undefined ? [] : { id, generation: Number(generation), target: disk.attribute('target/dev') ?? '' }
  })

/** In neither of the two XMLs of a domain. */
export function freeTarget(...domains: Element[]): string {
  const taken = new Set(domains.flatMap((domain) => domain.all('devices/disk').map((disk) => disk.attribute('target/dev'))))
  return volumeTargets.find((target) => !taken.has(target))!
}

const rbdXml = ({ name, monitors, user, secretUuid }: RbdDisk): Xml[] => [
  element('auth', { username: user }, element('secret', { type: 'ceph', uuid: secretUuid })),
  element('source', { protocol: 'rbd', name }, monitors.map(monitorXml)),
]

/** IPv6 addresses are in brackets. */
function monitorXml(monitor: string): Xml {
  const [, ipv6, host, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(monitor) ?? []
  return element('host', { name: ipv6 ?? host ?? monitor, port })
}

/** By target: of its own disk, which is the first, of its volumes, and of an ISO image. An empty drive has none to change: QEMU limits media. */
export function limitsByDisk(domain: Element): Map<string, DiskLimits> {
  const targets = ['vda', ...volumesOf(domain).map(({ target }) => target), ...(isoIdIn(domain) === null ? [] : [DRIVE])]
  const disks = new Map(domain.all('devices/disk').map((disk) => [disk.attribute('target/dev'), disk]))
  return new Map(targets.map((target) => [target, limitsOf(disks.get(target))]))
}

/** A limit that not all of them have is none. */
export function diskLimitsOf(domain: Element): DiskLimits {
  const [own, ...others] = limitsByDisk(domain).values()
  const common = (name: keyof DiskLimits): number | null => (others.every((other) => other[name] === own![name]) ? own![name] : null)
  return { iops: common('iops'), miBPerSecond: common('miBPerSecond') }
}

const vdaOf = (domain: Element): Element | undefined => domain.all('devices/disk').find((each) => each.attribute('target/dev') === 'vda')

/** libvirt would make the VM's user the owner of the whole chain, and so of the template of other guests. */
export const backingXml = (path: string | null): Xml =>
  path === null
    ? element('backingStore')
    : element(
        'backingStore',
        { type: 'file' },
        element('format', { type: 'qcow2' }),
        element('source', { file: path }, element('seclabel', { model: 'dac', relabel: 'no' })),
        element('backingStore'),
      )

/** The machine's own disk. `backing` is undefined where the machine was defined before that was written. */
export function diskOf(domain: Element): { path: string; backing: string | null | undefined } {
  const disk = vdaOf(domain)
  const chain = disk?.find('backingStore')
  return { path: disk?.attribute('source/file') ?? '', backing: chain && (chain.attribute('source/file') ?? null) }
}

/** A virtio disk rather than a CD: cloud kernels have no driver for CD drives. */
const seedXml = (path: string): Xml =>
  element(
    'disk',
    { type: 'file', device: 'disk' },
    element('driver', { name: 'qemu', type: 'raw' }),
    element('source', { file: path }),
    element('target', { dev: 'vdb', bus: 'virtio' }),
    element('readonly'),
  )

const platformXml = (arch: Arch, slots: number): Xml[] => [
  element('controller', { type: 'usb', model: 'none' }),
  element('controller', { type: 'pci', model: 'pcie-root' }),
  ...Array.from({ length: slots }, () => element('controller', { type: 'pci', model: 'pcie-root-port' })),
  element('serial', { type: 'pty' }, element('target', { port: 0 })),
  element('console', { type: 'pty' }, element('target', { type: 'serial', port: 0 })),
  element('channel', { type: 'unix' }, element('target', { type: 'virtio', name: 'org.qemu.guest_agent.0' })),
  element('graphics', { type: 'vnc' }, element('listen', { type: 'socket' })),
  element('rng', { model: 'virtio' }, element('backend', { model: 'random' }, '/dev/urandom')),
  element('memballoon', { model: 'virtio' }, element('stats', { period: 5 })),
  // The framebuffer that firmware sets up: cloud kernels lack drivers for graphics cards, and would show a stale picture on one.
  ...(arch === 'aarch64'
    ? [element('video', {}, element('model', { type: 'ramfb' })), element('input', { type: 'keyboard', bus: 'virtio' })]
    : [element('video', {}, element('model', { type: 'vga' })), element('panic', { model: 'isa' })]),
]

export const pausedDomainXml = (name: string, type: Record<string, string>, disk: Xml, seclabel: Xml | null): Xml =>
  element(
    'domain',
    { type: 'qemu' },
    element('name', {}, name),
    element('memory', { unit: 'MiB' }, 64),
    element('vcpu', {}, 1),
    element('os', {}, element('type', type, 'hvm')),
    seclabel,
    element('devices', {}, disk, element('controller', { type: 'usb', model: 'none' }), element('memballoon', { model: 'none' })),
  )
