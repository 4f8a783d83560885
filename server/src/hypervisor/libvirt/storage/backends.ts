// Disks in a storage backend. The host has only the seed, and a mark that says which backend holds the VM's images: with it the VM is found and
// purged after any crash, and a VM on local disks costs no call to a backend.
import { createHash } from 'node:crypto'
import { DriverError } from '../../driver.ts'
import type { RbdPool } from '../../rbd/pool.ts'
import type { HostContext } from '../core/host-context.ts'
import { storageMarkName } from '../core/resource-names.ts'
import { element } from '../core/xml.ts'
import type { RbdDisk } from '../xml/domain-xml.ts'
import { findVolume, tryCreateMarker } from './volumes.ts'

export async function getPool({ storage, hostId }: HostContext, storageId: string): Promise<RbdPool> {
  const found = (await storage.poolsOf(hostId)).find(({ backend }) => backend.id === storageId)
  if (!found) throw new DriverError('not_found', `The region of host ${hostId} has no storage backend ${storageId}`)
  return found
}

/** Undefined for a VM on local disks. */
export async function findPool(context: HostContext, vmId: string, signal: AbortSignal): Promise<RbdPool | undefined> {
  for (const pool of await context.storage.poolsOf(context.hostId))
    if (await findVolume(context, storageMarkName(vmId, pool.backend.id), signal)) return pool
  return undefined
}

export const markPool = (context: HostContext, vmId: string, { backend }: RbdPool, signal: AbortSignal): Promise<unknown> =>
  tryCreateMarker(context, storageMarkName(vmId, backend.id), signal)

/** The image as the domain has it. The key is a secret of the daemon, in its memory alone, and renewed before every start. */
export async function connectImage(context: HostContext, { backend }: RbdPool, image: string, signal: AbortSignal): Promise<RbdDisk> {
  const secretUuid = uuidOf(backend.id)
  await context.call(`hand the key of storage backend ${backend.id} to the host`, signal, async (host) => {
    const usage = element('usage', { type: 'ceph' }, element('name', {}, `berth-${backend.id}`))
    const { xml } = element('secret', { ephemeral: 'yes', private: 'yes' }, element('uuid', {}, secretUuid), usage)
    await host.secrets.setValue({ secret: await host.secrets.define({ xml }), value: Buffer.from(backend.key, 'base64') })
  })
  return { name: `${backend.pool}/${image}`, monitors: backend.monitors, user: backend.user, secretUuid }
}

/** The same on all hosts. */
function uuidOf(backendId: string): string {
  const hex = createHash('sha256').update(`storage backend ${backendId}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}
