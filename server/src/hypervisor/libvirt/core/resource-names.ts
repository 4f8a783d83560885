// Names of domains, volumes, networks and filters on a host, and how to read them back. They consist of our ids alone, never of text chosen
// by customers. UUIDs are derived from names (version 5), so that repeated definitions have the same UUID.
import { createHash } from 'node:crypto'

export const STORAGE_POOL = 'berth'
/** An empty pool on the same filesystem, whose refresh reports the free space (host/free-space.ts). */
export const SPACE_POOL = 'berth-space'
export const SPACE_FOLDER = '.space'
export const PUBLIC_NETWORK = 'berth-public'
export const PUBLIC_BRIDGE = 'brpub0'
/** Networks and domains that exist only to probe what a host can do. */
export const PROBE_PREFIX = 'berth-probe-'
/** The filter that every private interface refers to. */
export const PRIVATE_FILTER = 'berth-private'

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
export const filterName = (vmId: string): string => `berth-vm-${checked(vmId)}`
export const filterUuid = (vmId: string): string => uuidOf(filterName(vmId))
export const networkName = (networkId: string): string => `berth-${checked(networkId)}`
/** Null for unknown networks, and for the public network. */
export const networkIdOf = (name: string): string | null =>
  name === PUBLIC_NETWORK ? null : (/^berth-([a-z0-9]+)$/.exec(name)?.[1] ?? null)
export const vmIdOfFilter = (name: string): string | null => /^berth-vm-([a-z0-9]+)$/.exec(name)?.[1] ?? null
export const vmIdOfDomain = (name: string): string | null => /^berth-([a-z0-9]+)$/.exec(name)?.[1] ?? null
/** The kernel allows 15 characters, which an id does not fit in. */
export const bridgeName = (networkId: string): string => `bn${createHash('sha256').update(networkId).digest('hex').slice(0, 12)}`

export const diskName = (vmId: string, generation: number): string => `vm-${checked(vmId)}-${generation}.qcow2`
export const seedName = (vmId: string, generation: number): string => `seed-${checked(vmId)}-${generation}.iso`
export const snapshotName = (vmId: string, snapshotId: string): string => `snapshot-${checked(vmId)}-${checked(snapshotId)}.qcow2`
export const backupName = (vmId: string, backupId: string): string => `backup-${checked(vmId)}-${checked(backupId)}.qcow2`
export const templateName = (templateId: string): string => `template-${checked(templateId)}.qcow2`

/** A volume is complete while an empty volume of this name exists: it is created last and deleted first, so that an interrupted creation or
 *  removal leaves an incomplete volume. Disk and seed share one marker. */
export const markerName = (volumeName: string): string => volumeName.replace(/^seed-(.*)\.iso$/, 'vm-$1.qcow2') + MARKER

const MARKER = '.whole'

/** An empty volume, used as a lock: the process that creates it performs the restart. */
export const restartName = (vmId: string, actionId: string): string => `restart-${checked(vmId)}-${checked(actionId)}`

export interface VolumeName {
  kind: 'disk' | 'seed' | 'snapshot' | 'backup' | 'template' | 'marker' | 'unknown'
  /** The id of the snapshot, backup or template; the VM's id for disks and seeds; the name itself for the others. */
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
  const restarted = /^restart-([a-z0-9]+)-[a-z0-9]+$/.exec(name)?.[1]
  if (name === SPACE_FOLDER) return { kind: 'marker', id: name, vmId: null, generation: null }
  if (restarted) return { kind: 'marker', id: name, vmId: restarted, generation: null }
  const templateId = /^template-([a-z0-9]+)\.qcow2$/.exec(name)?.[1]
  if (templateId) return { kind: 'template', id: templateId, vmId: null, generation: null }
  return { kind: 'unknown', id: name, vmId: null, generation: null }
}

/** Names become paths on the host: rejects ids that could escape the pool's folder, or be parsed as another name. */
function checked(id: string): string {
  if (!/^[a-z0-9]{1,64}$/.test(id)) throw new Error(`BUG: ${JSON.stringify(id)} is not an id`)
  return id
}

const NAMESPACE = Buffer.from('6f7d1d6f5a3c4e0b9a51b5f1c2d7e830', 'hex')

export function uuidOf(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
