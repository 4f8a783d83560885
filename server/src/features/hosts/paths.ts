// The paths by which a host shows that it lives. libvirt's is asked all the time (heartbeat.reconciler.ts), the others while that one is silent
// (silence.reconciler.ts). Each alone may fail while guests run on: a host counts as lost when all that are known for it are silent.
import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { hasOpenRun, isOpen } from '../../workflow/run-store.ts'
import type { StorageClient } from '../../hypervisor/storage-pool.ts'
import type { HostRow } from './sql.ts'

export interface HostPath {
  path: 'LIBVIRT' | 'CHASSIS' | 'STORAGE'
  seenAt: Date | null
  /** Null while it is seen, or cannot be asked. */
  silentSince: Date | null
  /** Why it cannot be asked. */
  problem: string | null
}

type PathRow = Pick<Row<'host_paths'>, 'host_id' | 'path' | 'seen_at' | 'silent_since' | 'problem'>

/** By the ids of the hosts. */
export async function pathsOf(db: Queries, hosts: readonly HostRow[]): Promise<Map<string, HostPath[]>> {
  const rows = await db.many<PathRow>(sql`
    select host_id, path, seen_at, silent_since, problem from host_paths where host_id = any(${hosts.map(({ id }) => id)}::text[]) order by host_id, path`)
  const toPath = (row: PathRow): HostPath => ({
    path: row.path as HostPath['path'],
    seenAt: row.seen_at,
    silentSince: row.silent_since,
    problem: row.problem,
  })
  return new Map(
    hosts.map((host) => [
      host.id,
      [
        { path: 'LIBVIRT', seenAt: host.last_seen_at, silentSince: host.unreachable_since, problem: null },
        ...rows.filter((row) => row.host_id === host.id).map(toPath),
      ],
    ]),
  )
}

export const isSilent = ({ silentSince, problem }: HostPath): boolean => silentSince !== null && problem === null

/** Since when every path is silent; null where one is not. */
export const lostSince = (paths: readonly HostPath[]): Date | null =>
  paths.every(isSilent) ? new Date(Math.max(...paths.map(({ silentSince }) => silentSince!.getTime()))) : null

export const recordSeen = (db: Queries, now: Date, hostId: string, path: HostPath['path']) =>
  db.run(sql`
    insert into host_paths (host_id, path, seen_at) values (${hostId}, ${path}, ${now})
    on conflict (host_id, path) do update set seen_at = excluded.seen_at, silent_since = null, problem = null`)

export const recordSilent = (db: Queries, now: Date, hostId: string, path: HostPath['path']) =>
  db.run(sql`
    insert into host_paths (host_id, path, silent_since) values (${hostId}, ${path}, ${now})
    on conflict (host_id, path) do update set silent_since = coalesce(host_paths.silent_since, excluded.silent_since), problem = null`)

/** It shows neither that the host lives nor that it does not. */
export const recordUnknown = (db: Queries, hostId: string, path: HostPath['path'], problem: string) =>
  db.run(sql`
    insert into host_paths (host_id, path, problem) values (${hostId}, ${path}, ${problem})
    on conflict (host_id, path) do update set problem = excluded.problem, silent_since = null`)

export const forgetPath = (db: Queries, hostId: string, path: HostPath['path']) =>
  db.run(sql`delete from host_paths where host_id = ${hostId} and path = ${path}`)

/** Of a host that is reachable again. */
export const forgetSilence = (db: Queries, hostIds: string[]) =>
  db.run(
    sql`update host_paths set silent_since = null, problem = null where host_id = any(${hostIds}::text[]) and (silent_since is not null or problem is not null)`,
  )

export interface ImageOwner {
  storage_id: string
  owner_id: string
  /** Whether a machine may have it open, as far as we know. */
  is_running: boolean
  /** It has an open action, such as a migration. */
  is_busy: boolean
}

const ownersOn = (hostId: string): Sql => sql`
  select id as owner_id, storage_id, id as vm_id from vms where host_id = ${hostId} and storage_id is not null and provisioned
  union all
  select id, storage_id, vm_id from volumes where vm_host_id = ${hostId} and storage_id is not null and status in ('ATTACHING', 'ATTACHED')
  union all
  select v.id, v.storage_id, v.id from stale_machines l join vms v on v.id = l.vm_id
  where l.host_id = ${hostId} and l.may_run and v.host_id is null and v.storage_id is not null`

/** In storage backends: VMs that are placed on another host, and may run on this one all the same, where a move of them ended or is to be undone. */
export const guestsOn = (db: Queries, hostId: string) =>
  db.many<{ storage_id: string; vm_id: string }>(sql`
    select distinct b.storage_id, v.id as vm_id from vms v cross join lateral (
      select v.storage_id union select o.storage_id from volumes o where o.vm_id = v.id) b
    where b.storage_id is not null and v.host_id is distinct from ${hostId} and (
      exists (select from stale_machines l where l.host_id = ${hostId} and l.vm_id = v.id and l.may_run)
      or exists (select from workflow_runs r where r.subject_id = v.id and ${isOpen} and r.input ->> 'destinationId' = ${hostId}))
    order by 1, 2`)

/** VMs on the host and volumes of its machines that are in storage backends. */
export const imageOwnersOn = (db: Queries, hostId: string) =>
  db.many<ImageOwner>(sql`
    select o.storage_id, o.owner_id, v.status in ('RUNNING', 'UNMANAGED') or v.desired_running and v.status <> 'SUSPENDED' or b.is_busy or exists (
      select from stale_machines l where l.host_id = ${hostId} and l.vm_id = v.id) as is_running, b.is_busy
    from (${ownersOn(hostId)}) o join vms v on v.id = o.vm_id cross join lateral (select ${hasOpenRun(sql`v.id`)} as is_busy) b
    order by 1, 2`)

/** Of those that are still on the host: others may have opened their images elsewhere meanwhile. What was known of them before is forgotten. */
export async function recordClients(
  tx: Tx,
  now: Date,
  hostId: string,
  owners: readonly ImageOwner[],
  clients: readonly StorageClient[],
): Promise<void> {
  const rows = clients.map(({ ownerId, address, nonce }) => ({ address, nonce, ...owners.find(({ owner_id }) => owner_id === ownerId)! }))
  await tx.run(sql`
    insert into host_storage_clients (host_id, storage_id, owner_id, address, nonce, is_certain, seen_at)
    select ${hostId}, c.storage, c.owner, c.address, c.nonce, not c.busy and not ${hasOpenRun(sql`o.vm_id`)}, ${now}
    from unnest(${rows.map((row) => row.storage_id)}::text[], ${rows.map((row) => row.owner_id)}::text[], ${rows.map((row) => row.address)}::text[],
      ${rows.map((row) => row.nonce)}::int8[], ${rows.map((row) => row.is_busy)}::boolean[]) as c(storage, owner, address, nonce, busy)
      join (${ownersOn(hostId)}) o on o.owner_id = c.owner and o.storage_id = c.storage
    on conflict (host_id, storage_id, owner_id, address, nonce) do update set seen_at = excluded.seen_at, is_certain = excluded.is_certain`)
  await tx.run(sql`
    delete from host_storage_clients where host_id = ${hostId} and (owner_id not in (select o.owner_id from (${ownersOn(hostId)}) o)
      or owner_id = any(${rows.map((row) => row.owner_id)}::text[]) and seen_at < ${now})`)
}

export const clientsOf = (db: Queries, hostId: string) =>
  db.many<Pick<Row<'host_storage_clients'>, 'storage_id' | 'owner_id' | 'address' | 'nonce' | 'is_certain'>>(sql`
    select storage_id, owner_id, address, nonce, is_certain from host_storage_clients where host_id = ${hostId} order by storage_id, owner_id, address, nonce`)

export const recordWorkerAddresses = (db: Queries, now: Date, addresses: string[]) =>
  db.run(sql`
    insert into worker_addresses (address, seen_at) select a, ${now} from unnest(${addresses}::text[]) a
    on conflict (address) do update set seen_at = excluded.seen_at`)

/** Of workers that ran since, and of other hosts. */
export const sharedAddresses = async (db: Queries, hostId: string, since: Date): Promise<Set<string>> =>
  new Set(
    (
      await db.many<{ address: string }>(sql`
        select address from worker_addresses where seen_at > ${since} union
        select c.address from host_storage_clients c join hosts h on h.id = c.host_id where h.id <> ${hostId} and h.removed_at is null and c.is_certain`)
    ).map(({ address }) => address),
  )

/** Reachable hosts with images in storage backends whose address as a client is not known, or was asked long ago: with one image of each. */
export const clientsToLearn = (db: Queries, before: Date) =>
  db.many<ImageOwner & { host_id: string }>(sql`
    select h.id as host_id, s.id as storage_id, v.id as owner_id, true as is_running, false as is_busy
    from hosts h join storage_backends s on s.region_id = h.region_id and s.unreachable_since is null cross join lateral (
      select v.id from vms v where v.host_id = h.id and v.storage_id = s.id and v.status = 'RUNNING' and not ${hasOpenRun(sql`v.id`)} limit 1) v
    where h.unreachable_since is null and h.removed_at is null and h.fenced_at is null and not exists (
      select from host_storage_clients c where c.host_id = h.id and c.storage_id = s.id and c.seen_at > ${before})
    order by h.id, s.id`)
