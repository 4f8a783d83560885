// The CD drive of a domain that is defined with an ISO image, which it starts from first while one is in it.
import type { Arch, DiskLimits } from '../../driver.ts'
import { isoIdOf } from '../core/resource-names.ts'
import { element, type Element, type Xml } from '../core/xml.ts'
import { limitsXml } from './limits-xml.ts'

/** Its target. */
export const DRIVE = 'sda'

/** What installers know: SATA is part of the PC, and firmware of aarch64 starts from SCSI. */
const BUS: Record<Arch, string> = { x86_64: 'sata', aarch64: 'scsi' }

/** `path` is null for an empty drive. Raw, whatever its bytes say, and never made the guest's: others have it, too. */
export const driveXml = (path: string | null, arch: Arch, limits: DiskLimits): Xml =>
  element(
    'disk',
    { type: 'file', device: 'cdrom' },
    element('driver', { name: 'qemu', type: 'raw' }),
    path !== null && element('source', { file: path }, element('seclabel', { model: 'dac', relabel: 'no' })),
    element('target', { dev: DRIVE, bus: BUS[arch] }),
    limitsXml(limits),
    element('readonly'),
    element('boot', { order: 1 }),
  )

/** What the drive is attached to, where the machine has none of the kind. */
export const driveControllerXml = (arch: Arch): Xml | false =>
  arch === 'aarch64' && element('controller', { type: 'scsi', model: 'virtio-scsi' })

export const driveOf = (domain: Element): Element | undefined =>
  domain.all('devices/disk').find((disk) => disk.attributes['device'] === 'cdrom')

export const archOf = (domain: Element): Arch => (domain.attribute('os/type/arch') === 'aarch64' ? 'aarch64' : 'x86_64')

/** Of the image in its drive. */
export const isoIdIn = (domain: Element): string | null => isoIdOf(driveOf(domain)?.attribute('source/file') ?? '') ?? null
