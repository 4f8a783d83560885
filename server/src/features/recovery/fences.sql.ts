import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type FenceRow = Row<'host_fences'>

const columns = sql`host_id, requested_at, recovers, means, error, next_attempt_at`

export const findFence = (db: Queries, hostId: string) =>
  db.maybe<FenceRow>(sql`select ${columns} from host_fences where host_id = ${hostId}`)

export const listFences = (db: Queries) => db.many<FenceRow>(sql`select ${columns} from host_fences order by host_id`)

export const lockFence = (tx: Tx, hostId: string) =>
  tx.maybe<FenceRow>(sql`select ${columns} from host_fences where host_id = ${hostId} for update`)

/** Asked for again, it is tried at once. */
export const requestFence = (tx: Tx, now: Date, hostId: string, recovers: boolean) =>
  tx.run(sql`
    insert into host_fences (host_id, requested_at, recovers, next_attempt_at) values (${hostId}, ${now}, ${recovers}, ${now})
    on conflict (host_id) do update set recovers = host_fences.recovers or excluded.recovers, next_attempt_at = excluded.next_attempt_at`)

export const setRecovers = (tx: Tx, hostId: string) => tx.run(sql`update host_fences set recovers = true where host_id = ${hostId}`)

export const setMeans = (tx: Tx, hostId: string, means: string[]) =>
  tx.run(sql`update host_fences set means = ${means}, error = null where host_id = ${hostId}`)

export const setError = (db: Queries, hostId: string, error: string, nextAttemptAt: Date) =>
  db.run(sql`update host_fences set error = ${error}, next_attempt_at = ${nextAttemptAt} where host_id = ${hostId}`)

/** It is tried again at once. */
export const forgetMeans = (tx: Tx, hostId: string, reason: string, now: Date) =>
  tx.run(sql`update host_fences set means = '{}', error = ${reason}, next_attempt_at = ${now} where host_id = ${hostId}`)

export const deleteFence = (tx: Tx, hostId: string) => tx.run(sql`delete from host_fences where host_id = ${hostId}`)

export const recordBlocks = (tx: Tx, hostId: string, storageId: string, clients: string[]) =>
  tx.run(sql`
    insert into host_blocks (host_id, storage_id, client) select ${hostId}, ${storageId}, c from unnest(${clients}::text[]) c on conflict do nothing`)

export const blocksOf = (db: Queries, hostId: string) =>
  db.many<{ storage_id: string; client: string }>(
    sql`select storage_id, client from host_blocks where host_id = ${hostId} order by storage_id, client`,
  )

export const forgetClients = (tx: Tx, hostId: string) => tx.run(sql`delete from host_storage_clients where host_id = ${hostId}`)

/** Hosts of regions with automatic recovery that are unreachable, have VMs on replicated storage that are wanted on, and are not to be fenced yet. */
export const hostsToWatch = (db: Queries) =>
  db.many<{ id: string; lost_after_seconds: number }>(sql`
    select h.id, r.lost_after_seconds from hosts h join regions r on r.id = h.region_id
    where r.auto_recovery and h.unreachable_since is not null and h.removed_at is null and not exists (select from host_fences f where f.host_id = h.id)
      and exists (select from vms v where v.host_id = h.id and v.storage_id is not null and v.provisioned and v.desired_running
        and v.status not in ('UNMANAGED', 'SUSPENDED'))
    order by h.id`)

/** VMs on the host that have their disk or a volume in a storage backend. */
export const vmsWithImages = (db: Queries, hostId: string) =>
  db.many<{ id: string }>(sql`
    select v.id from vms v where v.host_id = ${hostId} and v.provisioned and v.status <> 'UNMANAGED' and (v.storage_id is not null or exists (
      select from volumes o where o.vm_id = v.id and o.vm_host_id = ${hostId} and o.storage_id is not null)) order by v.id`)

/** Of these, those that are placed on another host, or do not exist. */
export const strangersTo = async (db: Queries, hostId: string, vmIds: string[]): Promise<string[]> =>
  (
    await db.many<{ id: string }>(sql`
      select f.id from unnest(${vmIds}::text[]) as f(id) left join vms v on v.id = f.id where v.host_id is distinct from ${hostId} order by 1`)
  ).map(({ id }) => id)

export const isMigrationTarget = async (db: Queries, hostId: string): Promise<boolean> =>
  (await db.maybe(sql`
    select from workflow_runs r where (r.status in ('PENDING', 'RUNNING') or r.compensating) and r.input ->> 'destinationId' = ${hostId} limit 1`)) !==
  undefined

export const hasVmsToMove = async (db: Queries, hostId: string): Promise<boolean> =>
  (await db.maybe(
    sql`select from vms where host_id = ${hostId} and storage_id is not null and provisioned and status <> 'UNMANAGED' limit 1`,
  )) !== undefined

export const postpone = (db: Queries, hostId: string, until: Date) =>
  db.run(sql`update host_fences set next_attempt_at = ${until} where host_id = ${hostId}`)

export const markUnreachable = (tx: Tx, hostId: string, now: Date) =>
  tx.run(sql`update hosts set unreachable_since = coalesce(unreachable_since, ${now}) where id = ${hostId}`)
