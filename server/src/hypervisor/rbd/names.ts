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
export const draftOf = (image: string): string => `draft-${image}-${randomBytes(4).toString('hex')}`
export const isDraftOf = (name: string, image: string): boolean => DRAFT.exec(name)?.[1] === image
const DRAFT = /^draft-(.+)-[0-9a-f]{8}$/

export const snapshotName = (snapshotId: string): string => `snapshot-${checked(snapshotId)}`
export const snapshotIdOf = (name: string): string | undefined => /^snapshot-([a-z0-9]+)$/.exec(name)?.[1]

/** Says which storage backend the images of a pool belong to. */
export const ownerMark = (storageId: string): string => `owner-${checked(storageId)}`
export const ownerOf = (name: string): string | undefined => /^owner-([a-z0-9]+)$/.exec(name)?.[1]

export interface ImageName {
  kind: 'disk' | 'kept' | 'template' | 'volume'
  isDraft: boolean
  /** Of the VM, the template or the volume. */
  id: string
  /** 0 for a template. */
  generation: number
}

/** Undefined for an image of somebody else: operators may keep their own in the pool. */
export function readImageName(name: string): ImageName | undefined {
  const inner = DRAFT.exec(name)?.[1]
  const [, kind, id, generation = 0] =
    /^(vm|kept)-([a-z0-9]+)-(\d+)$/.exec(inner ?? name) ??
    /^(volume)-([a-z0-9]+)(?:-(\d+))?$/.exec(inner ?? name) ??
    /^(template)-([a-z0-9]+)$/.exec(inner ?? name) ??
    []
  if (kind === undefined || id === undefined) return undefined
  return { kind: kind === 'vm' ? 'disk' : (kind as ImageName['kind']), isDraft: inner !== undefined, id, generation: Number(generation) }
}

function checked(id: string): string {
  if (!/^[a-z0-9]{1,64}$/.test(id)) throw new Error(`BUG: ${JSON.stringify(id)} is not an id`)
  return id
}
