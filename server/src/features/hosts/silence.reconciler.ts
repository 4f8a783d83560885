// Looks for unreachable hosts on the other paths: whether the network controller still hears from their chassis, and whether their guests still have
// images open in storage backends. As which clients is remembered, also of hosts that are well: those who are to be fenced cannot be asked any more.
import { networkInterfaces } from 'node:os'
import type { StorageClient } from '../../hypervisor/storage-pool.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler, type Deps } from '../deps.ts'
import { getStorageBackend } from '../storage/service.ts'
import { callController } from './host-call.ts'
import * as paths from './paths.ts'
import { listHosts, type HostRow } from './sql.ts'

const ANSWER_MS = 30_000
const LEARN_EVERY = '10m'

export const watchSilence = reconciler('hosts.silence', '10s', async (deps, stopping = new AbortController().signal) => {
  const { db, clock, metrics } = deps
  await paths.recordWorkerAddresses(db, clock.now(), ownAddresses())
  const hosts = await listHosts(db)
  const silent = hosts.filter(({ unreachable_since }) => unreachable_since !== null)
  await paths.forgetSilence(
    db,
    hosts.flatMap(({ id, unreachable_since }) => (unreachable_since === null ? id : [])),
  )
  const byRegion = Map.groupBy(silent, ({ region_id }) => region_id)
  const look = async (regionId: string, each: HostRow[]): Promise<void> => {
    await lookAtChassis(deps, regionId, each, stopping)
    await Promise.all(each.map((host) => lookAtStorage(deps, host, stopping))) // last: by it is seen that all paths were asked
  }
  await Promise.all([...[...byRegion].map(([regionId, each]) => look(regionId, each)), learnClients(deps, stopping)])
  metrics.hostLost.reset()
  for (const [id, each] of await paths.pathsOf(db, hosts))
    metrics.hostLost.set({ host: hosts.find((host) => host.id === id)!.name }, paths.lostSince(each) === null ? 0 : 1)
})

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).flatMap(({ address, internal }) => (internal ? [] : address)))

async function lookAtChassis(deps: Deps, regionId: string, hosts: HostRow[], stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  let answers = new Map<string, boolean>()
  const error = await callController(deps, regionId, stopping, async (controller, signal) => {
    const names = hosts.map(({ hostname }) => hostname)
    answers = new Map((await controller.probeHosts(names, signal)).map((each) => [each.host, each.answers]))
  })
  for (const { id, hostname } of hosts) {
    if (error) await paths.recordUnknown(db, id, 'CHASSIS', error.message)
    else if (answers.get(hostname)) await paths.recordSeen(db, clock.now(), id, 'CHASSIS')
    else if (answers.has(hostname)) await paths.recordSilent(db, clock.now(), id, 'CHASSIS')
    else await paths.forgetPath(db, id, 'CHASSIS')
  }
}

async function lookAtStorage(deps: Deps, host: HostRow, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  const owners = (await paths.imageOwnersOn(db, host.id)).filter(({ is_running }) => is_running)
  if (owners.length === 0) return void (await paths.forgetPath(db, host.id, 'STORAGE'))
  try {
    const found: StorageClient[] = []
    for (const each of Map.groupBy(owners, ({ storage_id }) => storage_id).values())
      found.push(...(await learn(deps, host.id, each, stopping)))
    const record = found.some(({ isWatching }) => isWatching) ? paths.recordSeen : paths.recordSilent
    await record(db, clock.now(), host.id, 'STORAGE')
  } catch (error) {
    await paths.recordUnknown(db, host.id, 'STORAGE', (error as Error).message)
  }
}

/** Of owners in one storage backend. */
async function learn(
  { db, clock, storage }: Deps,
  hostId: string,
  owners: paths.ImageOwner[],
  stopping: AbortSignal,
): Promise<StorageClient[]> {
  const pool = storage.open(await getStorageBackend(db, owners[0]!.storage_id))
  const ids = owners.map(({ owner_id }) => owner_id)
  const clients = await pool.listClients(ids, AbortSignal.any([AbortSignal.timeout(ANSWER_MS), stopping]))
  await db.tx((tx) => paths.recordClients(tx, clock.now(), hostId, owners, clients))
  return clients
}

async function learnClients(deps: Deps, stopping: AbortSignal): Promise<void> {
  for (const { host_id, ...owner } of await paths.clientsToLearn(deps.db, subtractDuration(deps.clock.now(), LEARN_EVERY)))
    await learn(deps, host_id, [owner], stopping).catch((error: unknown) =>
      deps.log.info({ err: error, hostId: host_id }, 'reading storage clients of a host failed; will retry'),
    )
}
