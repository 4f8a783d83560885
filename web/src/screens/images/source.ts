// What an image is made of, as chosen in the form, and its part of the request.
import type { CreateImage } from '@berth/sdk'

export type Source = Omit<CreateImage, 'name' | 'labels'>

export interface SourceForm {
  type: 'VM' | 'SNAPSHOT' | 'BACKUP' | 'URL'
  vmId: string
  /** The snapshot or backup. */
  copyId: string
  url: string
  checksum: string
  kind: 'DISK' | 'ISO'
  defaultUser: string
  guestAgent: boolean
}

export const NO_SOURCE: SourceForm = {
  type: 'VM',
  vmId: '',
  copyId: '',
  url: '',
  checksum: '',
  kind: 'DISK',
  defaultUser: '',
  guestAgent: false,
}

/** Null while something is missing. */
export function toSource({ type, vmId, copyId, url, checksum, kind, defaultUser, guestAgent }: SourceForm): Source | null {
  if (type === 'VM') return vmId ? { vmId } : null
  if (type === 'SNAPSHOT') return copyId ? { snapshotId: copyId } : null
  if (type === 'BACKUP') return copyId ? { backupId: copyId } : null
  if (!url || !checksum) return null
  const ofDisk = { ...(defaultUser && { defaultUser }), ...(guestAgent && { guestAgent }) }
  return { url, checksum, ...(kind === 'ISO' ? { kind } : ofDisk) }
}
