// How a host is kept from writing: its clients of storage backends are blocked there, or, where that fails, it is switched off by its power
// controller, with all its guests on local storage. Either is enough, and is believed only when it was read back.
import { addressIn } from '../../hypervisor/host-address.ts'
import { ensureOff, readPower } from '../../hypervisor/redfish.ts'
import { blockedClient } from '../../hypervisor/storage-pool.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import type { Deps } from '../deps.ts'
import {
  clientsOf,
  getHost,
  guestsOn,
  imageOwnersOn,
  listHostsIn,
  markUnfenced,
  openPower,
  recordClients,
  sharedAddresses,
  type HostRow,
} from '../hosts/service.ts'
import { getStorageBackend } from '../storage/service.ts'
import * as sql from './fences.sql.ts'

/** In one storage backend. */
export interface Block {
  storageId: string
  /** As Ceph writes them. */
  clients: string[]
  /** Why nothing can be blocked; null where it can. */
  problem: string | null
  /** VMs that are placed elsewhere and may run there: nobody knows as which client, so no address is blocked for them but a whole one. */
  guests?: string[]
}

/**
 * What has to be blocked. An address is blocked as a whole where nobody else has it: not the workers, not another host, not a machine of the cluster
 * itself. Otherwise each process that has an image open, or its lock: of every guest that runs there, one must be known.
 */
export async function findBlocks(deps: Deps, host: HostRow, signal: AbortSignal): Promise<Block[]> {
  const owners = Map.groupBy(await imageOwnersOn(deps.db, host.id), ({ storage_id }) => storage_id)
  const guests = Map.groupBy(await guestsOn(deps.db, host.id), ({ storage_id }) => storage_id)
  const taken = await addressesOfOthers(deps, host)
  const blocks: Block[] = []
  for (const storageId of new Set([...owners.keys(), ...guests.keys()])) {
    const own = owners.get(storageId) ?? []
    const alien = (guests.get(storageId) ?? []).map(({ vm_id }) => vm_id)
    const pool = deps.storage.open(await getStorageBackend(deps.db, storageId))
    const ids = own.map(({ owner_id }) => owner_id)
    try {
      const now = await pool.listClients(ids, signal)
      await deps.db.tx((tx) => recordClients(tx, deps.clock.now(), host.id, own, now))
      const others = new Set([...taken, ...(await pool.listServers(signal))])
      const known = (await clientsOf(deps.db, host.id)).filter((each) => each.storage_id === storageId)
      const certain = new Set(known.flatMap(({ address, is_certain }) => (is_certain ? address : [])))
      const whole = [...certain].filter((address) => !others.has(address))
      const single = known.filter(({ address }) => !whole.includes(address))
      const clients = [
        ...whole.map((address) => blockedClient(address, 0)),
        ...new Set(single.map(({ address, nonce }) => blockedClient(address, Number(nonce)))),
      ]
      const seen = new Set(known.map(({ owner_id }) => owner_id))
      const unseen = whole.length > 0 ? [] : own.filter(({ owner_id, is_running }) => is_running && !seen.has(owner_id))
      const problem =
        unseen.length > 0
          ? `Storage backend ${storageId} does not know as which client ${host.name} has ${unseen.map(({ owner_id }) => owner_id).join(', ')} open`
          : null
      blocks.push({ storageId, clients, problem, guests: whole.length > 0 ? [] : alien })
    } catch (error) {
      blocks.push({ storageId, clients: [], problem: (error as Error).message })
    }
  }
  return blocks
}

const WORKER_IS_GONE = '7d'

async function addressesOfOthers({ db, clock }: Deps, host: HostRow): Promise<string[]> {
  const hosts = (await listHostsIn(db, host.region_id)).filter(({ id }) => id !== host.id)
  return [...(await sharedAddresses(db, host.id, subtractDuration(clock.now(), WORKER_IS_GONE))), ...hosts.map(({ uri }) => addressIn(uri))]
}

const BLOCK_MS = 45_000

export type Means = 'BLOCKLIST' | 'POWER'

/** What has been verified; `problems` of what has not. */
export async function fence(
  deps: Deps,
  hostId: string,
  blocks: Block[],
  signal: AbortSignal,
): Promise<{ means: Means[]; problems: string[] }> {
  const problems: string[] = []
  const attempt = async (means: Means, work: () => Promise<unknown>): Promise<Means[]> => {
    try {
      await work()
      return [means]
    } catch (error) {
      problems.push((error as Error).message)
      return []
    }
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(BLOCK_MS)]) // time is left for the power controller
  const blocked = await attempt('BLOCKLIST', () => blockAll(deps, hostId, blocks, limit))
  const power = openPower(deps.vault, await getHost(deps.db, hostId))
  const guests = blocks.flatMap((each) => each.guests ?? [])
  if (!power || (blocked.length > 0 && guests.length === 0)) return { means: blocked, problems }
  return { means: [...blocked, ...(await attempt('POWER', () => ensureOff(power, signal)))], problems }
}

async function blockAll({ db, storage }: Deps, hostId: string, blocks: Block[], signal: AbortSignal): Promise<void> {
  const problem = blocks.find((each) => each.problem !== null)?.problem
  if (problem) throw new Error(problem)
  for (const { storageId, clients } of blocks) {
    const pool = storage.open(await getStorageBackend(db, storageId))
    await pool.ensureBlocked(clients, signal)
    const owners = (await imageOwnersOn(db, hostId)).flatMap((each) => (each.storage_id === storageId ? each.owner_id : []))
    const left = (await pool.listClients(owners, signal)).filter(
      ({ isWatching, address, nonce }) => isWatching && [0, nonce].some((each) => clients.includes(blockedClient(address, each))),
    )
    if (left.length > 0) throw new Error(`${left.map(({ ownerId }) => ownerId).join(', ')} are still open in storage backend ${storageId}`)
  }
}

/** Whether it may have started machines since it was fenced. */
export const hasAnswered = ({ fenced_at, reachable_since }: HostRow): boolean =>
  fenced_at !== null && reachable_since !== null && reachable_since > fenced_at

/** Whether what was verified still holds. */
export async function isFenceIntact(deps: Deps, host: HostRow, means: readonly string[], signal: AbortSignal): Promise<boolean> {
  if (hasAnswered(host)) return false
  const power = openPower(deps.vault, host)
  const isOff = means.includes('POWER') && power && (await readPower(power, signal).catch(() => null)) === 'Off'
  if (means.includes('POWER') && !isOff) return false
  if (!means.includes('BLOCKLIST')) return means.includes('POWER')
  const blocks = Map.groupBy(await sql.blocksOf(deps.db, host.id), ({ storage_id }) => storage_id)
  for (const [storageId, each] of blocks)
    if ((await listBlocked(deps, storageId, each, signal).catch(() => [])).length < each.length) return false
  return true
}

/** It is fenced again before anything more of it is started elsewhere. */
export const voidFence = ({ db, clock }: Deps, hostId: string): Promise<void> =>
  db.tx(async (tx) => {
    await markUnfenced(tx, hostId)
    await sql.forgetMeans(tx, hostId, 'What fenced it was undone, or it has answered since', clock.now())
  })

type Blocked = Awaited<ReturnType<typeof sql.blocksOf>>

const listBlocked = async ({ db, storage }: Deps, storageId: string, blocks: Blocked, signal: AbortSignal): Promise<string[]> =>
  storage.open(await getStorageBackend(db, storageId)).listBlocked(
    blocks.map(({ client }) => client),
    signal,
  )

/** Whether it cannot be told from one that is fenced. */
export async function isBlockedInPart(deps: Deps, hostId: string, signal: AbortSignal): Promise<boolean> {
  for (const [storageId, each] of Map.groupBy(await sql.blocksOf(deps.db, hostId), ({ storage_id }) => storage_id))
    if ((await listBlocked(deps, storageId, each, signal)).length > 0) return true
  return false
}

export async function unblock({ db, storage }: Deps, hostId: string, signal: AbortSignal): Promise<void> {
  for (const [storageId, each] of Map.groupBy(await sql.blocksOf(db, hostId), ({ storage_id }) => storage_id))
    await storage.open(await getStorageBackend(db, storageId)).ensureUnblocked(
      each.map(({ client }) => client),
      signal,
    )
}
