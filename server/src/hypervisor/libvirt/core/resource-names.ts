// Names of domains and volumes on a host, and how to read them back. They consist of our ids alone, never of text chosen by customers.

export const STORAGE_POOL = 'berth'
/** An empty pool on the same filesystem, whose refresh reports the free space (host/free-space.ts). */
export const SPACE_POOL = 'berth-space'
export const SPACE_FOLDER = '.space'
/** What `host prepare` keeps on a host, its certificates among it, and the pool by which they are renewed (host/chassis-certificate.ts). */
export const SETUP_FOLDER = '/etc/libvirt/berth'
export const SETUP_POOL = 'berth-setup'
export const CHASSIS_IDENTITY = 'chassis.pem'
/** Of libvirtd. */
export const SERVER_CERTIFICATE = 'server.pem'
/** Domains that exist only to probe what a host can do. */
const PROBE_PREFIX = 'berth-probe-'

export const domainName = (vmId: string): string => `berth-${checked(vmId)}`
/** A paused domain that has a disk open, for changes that only QEMU can make. */
export const diskHelperName = (volumeName: string): string => `${OPENER}${volumeName.replace(/\.qcow2$/, '')}`
/** The reader domain of a VM that is off (domain/reader-domain.ts). */
export const readerName = (vmId: string): string => `${READER}${checked(vmId)}`
/** Reader, disk helper and probe domains: created by this driver, and no VM. */
export const isHelperDomain = (name: string): boolean => [READER, OPENER, PROBE_PREFIX].some((prefix) => name.startsWith(prefix))
/** Started with KVM to see whether that works. */
export const KVM_PROBE_DOMAIN = 'berth-probe-machine'
/** Started as another user to see whether that works. */
export const USER_PROBE_DOMAIN = 'berth-probe-user'
const READER = 'berth-copy-'
const OPENER = 'berth-open-'
export const vmIdOfDomain = (name: string): string | null => /^berth-([a-z0-9]+)$/.exec(name)?.[1] ?? null

export const diskName = (vmId: string, generation: number): string => `vm-${checked(vmId)}-${generation}.qcow2`
export const seedName = (vmId: string, generation: number): string => `seed-${checked(vmId)}-${generation}.iso`
/** Of a VM or a volume. */
export const snapshotName = (vmId: string, snapshotId: string): string => `snapshot-${checked(vmId)}-${checked(snapshotId)}.qcow2`
export const backupName = (vmId: string, backupId: string): string => `backup-${checked(vmId)}-${checked(backupId)}.qcow2`
/** Of a customer. */
export const volumeName = ({ volumeId, generation }: { volumeId: string; generation: number }): string =>
  `volume-${checked(volumeId)}${generation === 0 ? '' : `-${generation}`}.qcow2`
export const templateName = (templateId: string): string => `template-${checked(templateId)}.qcow2`
/** Of an account. */
export const isoName = (imageId: string): string => `iso-${checked(imageId)}.iso`

/** A volume is complete while an empty volume of this name exists: it is created last and deleted first, so that an interrupted creation or
 *  removal leaves an incomplete volume. Disk and seed share one marker. */
export const markerName = (volumeName: string): string => volumeName.replace(/^seed-(.*)\.iso$/, 'vm-$1.qcow2') + MARKER

const MARKER = '.whole'

/** An empty volume: the VM's disks are in this storage backend. It is created first and deleted last. */
export const storageMarkName = (vmId: string, storageId: string): string => `storage-${checked(vmId)}-${checked(storageId)}`
export const storageIdOf = (name: string): string | undefined => /^storage-[a-z0-9]+-([a-z0-9]+)$/.exec(name)?.[1]

/** An empty volume, used as a lock: the process that creates it performs the restart. */
export const restartName = (vmId: string, actionId: string): string => `restart-${checked(vmId)}-${checked(actionId)}`

export interface VolumeName {
  kind: 'disk' | 'seed' | 'snapshot' | 'backup' | 'template' | 'volume' | 'iso' | 'marker' | 'unknown'
  /** The id of the snapshot, backup, template, ISO image or customer's volume; the VM's id for disks and seeds; the name itself for the others. */
  id: string
  vmId: string | null
  generation: number | null
}

export function readVolumeName(name: string): VolumeName {
  if (name.endsWith(MARKER)) return { ...readVolumeName(name.slice(0, -MARKER.length)), kind: 'marker', id: name }
  const [, kind, vmId, made] = /^(vm|seed)-([a-z0-9]+)-(\d+)\.(?:qcow2|iso)$/.exec(name) ?? []
  if (kind && vmId) return { kind: kind === 'vm' ? 'disk' : 'seed', id: vmId, vmId, generation: Number(made) }
  const [, copy, owner, copyId] = /^(snapshot|backup)-([a-z0-9]+)-([a-z0-9]+)\.qcow2$/.exec(name) ?? []
  if (copy && owner && copyId) return { kind: copy as 'snapshot' | 'backup', id: copyId, vmId: owner, generation: null }
  const marked = /^(?:restart|storage)-([a-z0-9]+)-[a-z0-9]+$/.exec(name)?.[1]
  if (name === SPACE_FOLDER) return { kind: 'marker', id: name, vmId: null, generation: null }
  if (marked) return { kind: 'marker', id: name, vmId: marked, generation: null }
  const templateId = /^template-([a-z0-9]+)\.qcow2$/.exec(name)?.[1]
  if (templateId) return { kind: 'template', id: templateId, vmId: null, generation: null }
  const imageId = isoIdOf(name)
  if (imageId) return { kind: 'iso', id: imageId, vmId: null, generation: null }
  const [, volumeId, generation = 0] = /^volume-([a-z0-9]+)(?:-(\d+))?\.qcow2$/.exec(name) ?? []
  if (volumeId) return { kind: 'volume', id: volumeId, vmId: null, generation: Number(generation) }
  return { kind: 'unknown', id: name, vmId: null, generation: null }
}

/** Also of its path. */
export const isoIdOf = (name: string): string | undefined => /(?:^|\/)iso-([a-z0-9]+)\.iso$/.exec(name)?.[1]

/** Names become paths on the host: rejects ids that could escape the pool's folder, or be parsed as another name. */
function checked(id: string): string {
  if (!/^[a-z0-9]{1,64}$/.test(id)) throw new Error(`BUG: ${JSON.stringify(id)} is not an id`)
  return id
}
