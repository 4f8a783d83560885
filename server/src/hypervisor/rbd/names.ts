// Names of images and snapshots in a pool, and how to read them back. They consist of our ids alone. An image gets its final name last and
// loses it first, so what has one is complete; until then and from then on it is a draft.
import { randomBytes } from 'node:crypto'

export const templateImage = (templateId: string): string => `template-${checked(templateId)}`
/** The snapshot of a template that disks are clones of. */
export const BASE = 'base'

export interface DiskId {
  vmId: string
  generation: number
}

export interface VolumeId {
  volumeId: string
  generation: number
}

export const diskImage = ({ vmId, generation }: DiskId): string => `vm-${checked(vmId)}-${generation}`
/** Of a customer. */
export const volumeImage = ({ volumeId, generation }: VolumeId): string =>
  `volume-${checked(volumeId)}${generation === 0 ? '' : `-${generation}`}`
/** A disk or volume that was removed while snapshots of it are kept. */
export const keptImage = ({ id, generation }: { id: string; generation: number }): string => `kept-${checked(id)}-${generation}`
/** A disk that was stored to make a disk of it. */
export const backupImage = (vmId: string, backupId: string): string => `backup-${checked(vmId)}-${checked(backupId)}`
export const draftOf = (image: string): string => `draft-${image}-${randomBytes(4).toString('hex')}`
export const imageOfDraft = (name: string): string | undefined => DRAFT.exec(name)?.[1]
const DRAFT = /^draft-(.+)-[0-9a-f]{8}$/

export const snapshotName = (snapshotId: string): string => `snapshot-${checked(snapshotId)}`
export const snapshotIdOf = (name: string): string | undefined => /^snapshot-([a-z0-9]+)$/.exec(name)?.[1]

/** A snapshot that a backup is read from; `parentId`: what changed since that one. */
export const backupSnapshot = (backupId: string, parentId: string | null): string =>
  `backup-${checked(backupId)}${parentId === null ? '' : `-${checked(parentId)}`}`
/** What is left of it once the backup is stored: the next one holds what changed since. */
export const baseSnapshot = (backupId: string): string => `base-${checked(backupId)}`

export interface BackupSnapshot {
  name: string
  backupId: string
  parentId: string | null
  isBase: boolean
}

export function readBackupSnapshot(name: string): BackupSnapshot | undefined {
  const [, kind, backupId, parentId = null] = /^(?:(backup|base)-([a-z0-9]+)(?:-([a-z0-9]+))?)$/.exec(name) ?? []
  return backupId === undefined ? undefined : { name, backupId, parentId, isBase: kind === 'base' }
}

/** Says which storage backend the images of a pool belong to. */
export const ownerMark = (storageId: string): string => `owner-${checked(storageId)}`
export const ownerOf = (name: string): string | undefined => /^owner-([a-z0-9]+)$/.exec(name)?.[1]

export interface ImageName {
  kind: 'disk' | 'kept' | 'template' | 'volume' | 'backup'
  isDraft: boolean
  /** Of the VM, the template or the volume. */
  id: string
  /** 0 for a template and a backup. */
  generation: number
  /** Of a backup. */
  backupId?: string
}

/** Undefined for an image of somebody else: operators may keep their own in the pool. */
export function readImageName(name: string): ImageName | undefined {
  const inner = imageOfDraft(name)
  const plain = inner ?? name
  const [, kind, id, generation = 0] =
    /^(vm|kept)-([a-z0-9]+)-(\d+)$/.exec(plain) ??
    /^(volume)-([a-z0-9]+)(?:-(\d+))?$/.exec(plain) ??
    /^(template)-([a-z0-9]+)$/.exec(plain) ??
    []
  const isDraft = inner !== undefined
  const [, vmId, backupId] = /^backup-([a-z0-9]+)-([a-z0-9]+)$/.exec(plain) ?? []
  if (vmId !== undefined) return { kind: 'backup', isDraft, id: vmId, generation: 0, backupId: backupId! }
  if (kind === undefined || id === undefined) return undefined
  return { kind: kind === 'vm' ? 'disk' : (kind as ImageName['kind']), isDraft, id, generation: Number(generation) }
}

function checked(id: string): string {
  if (!/^[a-z0-9]{1,64}$/.test(id)) throw new Error(`BUG: ${JSON.stringify(id)} is not an id`)
  return id
}
