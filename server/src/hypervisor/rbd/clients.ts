// Clients of a pool: who writes to which image, and how they are kept from it (the blocklist of Ceph's OSD map).
import { DriverError, isDriverError } from '../errors.ts'
import type { Fencing, StorageClient } from '../storage-pool.ts'
import type { PoolAccess } from './access.ts'
import { undefinedIfNotFound } from './command.ts'
import type { PoolImages } from './images.ts'
import { readImageName } from './names.ts'

/** Ceph forgets entries; a host that is away for longer is removed. */
const BLOCKED_SECONDS = 365 * 86_400
/** Programs at a time. */
const AT_ONCE = 4

/** The map of the cluster. `osd blocklist ls` prints more than JSON. */
interface OsdMap {
  blocklist: Record<string, string>
  osds: { public_addrs: { addrvec: { addr: string }[] } }[]
}

export function poolClients({ backend, json, ceph }: PoolAccess, images: PoolImages): Fencing {
  const readMap = (signal: AbortSignal): Promise<OsdMap> => ceph('read the map of the cluster', ['osd', 'dump'], signal)
  const listBlocked = async (clients: readonly string[], signal: AbortSignal): Promise<string[]> => {
    const { blocklist } = await readMap(signal)
    return clients.filter((client) => Object.hasOwn(blocklist, client))
  }

  const clientsOf = async (image: string, ownerId: string, signal: AbortSignal): Promise<StorageClient[]> => {
    const status = await undefinedIfNotFound(
      json<{ watchers: { address: string }[] }>(`read the watchers of ${image}`, ['status', image], signal),
    )
    const locks = await undefinedIfNotFound(json<{ address: string }[]>(`read the locks of ${image}`, ['lock', 'ls', image], signal))
    const watching = (status?.watchers ?? []).map(({ address }) => address)
    const locking = (locks ?? []).map(({ address }) => address).filter((address) => !watching.includes(address))
    return [...watching, ...locking].map((text) => ({ ownerId, ...parseClient(text), isWatching: watching.includes(text) }))
  }

  return {
    async listClients(ownerIds, signal) {
      const owners = new Set(ownerIds)
      const wanted = (await images.listNames(signal)).flatMap((name) => {
        const read = readImageName(name)
        return read && !read.isDraft && (read.kind === 'disk' || read.kind === 'volume') && owners.has(read.id)
          ? [{ name, id: read.id }]
          : []
      })
      const found: StorageClient[] = []
      const work = async (): Promise<void> => {
        for (let next = wanted.pop(); next; next = wanted.pop()) found.push(...(await clientsOf(next.name, next.id, signal)))
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      return found
    },

    async listServers(signal) {
      const { osds } = await readMap(signal)
      const addresses = osds.flatMap(({ public_addrs }) => public_addrs.addrvec.map(({ addr }) => addr))
      return [...new Set([...addresses, ...backend.monitors].map((text) => text.replace(/^\[(.+)\](:\d+)?$|:\d+$/, '$1')))]
    },

    async ensureBlocked(clients, signal) {
      for (const client of clients) await ceph(`block ${client}`, ['osd', 'blocklist', 'add', client, String(BLOCKED_SECONDS)], signal)
      const blocked = await listBlocked(clients, signal)
      const missing = clients.filter((client) => !blocked.includes(client))
      if (missing.length > 0) throw new DriverError('transient', `Pool ${backend.pool} does not list ${missing.join(', ')} as blocked`)
    },

    listBlocked,

    async ensureUnblocked(clients, signal) {
      for (const client of await listBlocked(clients, signal))
        await ceph(`unblock ${client}`, ['osd', 'blocklist', 'rm', client], signal).catch((error: unknown) => {
          if (!isDriverError(error, 'not_found')) throw error
        })
    },
  }
}

/** Such as `10.0.0.5:0/3210` or `[fd00::5]:0/3210`. */
export function parseClient(text: string): { address: string; nonce: number } {
  const [, address, nonce] = /^(?:\w+:)?\[?([0-9a-f.:]+?)\]?:\d+\/(\d+)$/i.exec(text) ?? []
  if (address === undefined) throw new DriverError('permanent', `${JSON.stringify(text)} is no client of Ceph`)
  return { address, nonce: Number(nonce) }
}
