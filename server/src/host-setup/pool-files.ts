// Files of the storage pool that an older release made readable to everybody, or whose owner libvirt changed to the user of QEMU: disks, seeds
// with password hashes, snapshots and backups are closed to other users, templates are root's.
import { chmod, chown, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readVolumeName } from '../hypervisor/libvirt/core/resource-names.ts'
import { missing, satisfied, type Step } from './setup-step.ts'

interface Exposed {
  path: string
  isTemplate: boolean
}

export const poolFiles: Step = {
  name: 'files',
  async check({ poolPath }) {
    const exposed = await exposedIn(poolPath)
    return exposed.length === 0
      ? satisfied('disks and copies are closed to other users')
      : missing(`permissions of ${exposed.length} files in ${poolPath}`)
  },
  async apply({ poolPath }) {
    for (const { path, isTemplate } of await exposedIn(poolPath)) {
      if (isTemplate) await chown(path, 0, 0)
      await chmod(path, isTemplate ? 0o644 : 0o600)
    }
  },
}

/** Files without our naming scheme belong to the operator. */
export async function exposedIn(folder: string): Promise<Exposed[]> {
  const names = await readdir(folder).catch(() => [])
  const found = names.map((name) => ({ path: join(folder, name), kind: readVolumeName(name).kind }))
  const exposed: Exposed[] = []
  for (const { path, kind } of found) {
    const file = kind === 'unknown' ? null : await stat(path).catch(() => null) // it may have just been deleted
    if (!file?.isFile()) continue
    const isTemplate = kind === 'template'
    if (isTemplate ? file.uid !== 0 || (file.mode & 0o022) !== 0 : (file.mode & 0o077) !== 0) exposed.push({ path, isTemplate })
  }
  return exposed
}
