// Applies changed packet filters. VMs of one host run in sequence, because a host applies filters serially; hosts run concurrently. A VM
// is debounced while its rules change, so that a burst of changes costs one apply. Round robin by account keeps one account's many VMs
// from delaying another account.
import { addDuration, sleep } from '../../kernel/clock.ts'
import { sql, type Queries } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, CLAIM, isUnreachable, retryDelay } from '../hosts/service.ts'
import { APPLY, filterOf } from './filter-state.ts'

const LOOK_EVERY_MS = 120
const MAX_CHECKS = 8

export const applyFilters = keyedReconciler(APPLY, '5s', {
  busy: async ({ db, clock }) => (await hostsWithPending(db, clock.now())).map((row) => row.host_id),
  runOnce: applyOnHost,
})

async function applyOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  const [isResting, pick] = [debounceByVersion(), roundRobinByAccount()]
  while (!stopping.aborted) {
    const pending = await pendingOn(db, hostId, clock.now())
    if (pending.length === 0) return
    const next = pick(pending.filter(isResting))
    if (!next) await sleep(LOOK_EVERY_MS)
    else if (!(await applyOne(deps, hostId, next.vm_id, stopping))) return
  }
}

/** Picks a row of the least recently picked account. */
function roundRobinByAccount(): (rows: PendingRow[]) => PendingRow | undefined {
  const last = new Map<string, number>()
  let turn = 0
  return (rows) => {
    const [next] = rows.toSorted((a, b) => (last.get(a.account_id) ?? 0) - (last.get(b.account_id) ?? 0))
    if (next) last.set(next.account_id, ++turn)
    return next
  }
}

/**
 * Returns whether the desired version is unchanged since the previous check. After MAX_CHECKS it returns true, so that continuous
 * changes do not postpone the apply forever.
 */
function debounceByVersion(): (row: PendingRow) => boolean {
  const seen = new Map<string, { desired_version: number; looks: number }>()
  return ({ vm_id, desired_version }) => {
    const before = seen.get(vm_id)
    const looks = (before?.looks ?? 0) + 1
    seen.set(vm_id, { desired_version, looks })
    return before?.desired_version === desired_version || looks > MAX_CHECKS
  }
}

/** Returns false when the host is unreachable; its other filters then wait for the next run. */
async function applyOne(deps: Deps, hostId: string, vmId: string, stopping: AbortSignal): Promise<boolean> {
  const { db, clock } = deps
  const claim = addDuration(clock.now(), CLAIM)
  if (!(await claimFilter(db, vmId, clock.now(), claim))) return true
  const { version, filter } = await filterOf(db, vmId)
  const error = await callHost(deps, hostId, stopping, (driver, signal) => driver.ensureFilter(vmId, filter, signal))
  const isRecorded = !error
    ? await recordApplied(db, vmId, claim, version, clock.now())
    : stopping.aborted
      ? await recordFailed(db, vmId, claim, null, clock.now())
      : await recordFailed(db, vmId, claim, error.userMessage, addDuration(clock.now(), retryDelay(error)))
  if (!isRecorded) await bumpWantedVersion(db, vmId)
  return !error || !isUnreachable(error)
}

const pending = (now: Date) => sql`
  is_managed and applied_version is distinct from desired_version and coalesce(claimed_until, '-infinity') <= ${now} and coalesce(next_try_at, '-infinity') <= ${now}`

const hostsWithPending = (db: Queries, now: Date) =>
  db.many<{ host_id: string }>(sql`select distinct host_id from vm_filters where ${pending(now)}`)

type PendingRow = Pick<Row<'vm_filters'>, 'vm_id' | 'account_id' | 'desired_version'>

const pendingOn = (db: Queries, hostId: string, now: Date) =>
  db.many<PendingRow>(sql`
    select vm_id, account_id, desired_version from vm_filters where host_id = ${hostId} and ${pending(now)}
    order by row_number() over (partition by account_id order by next_try_at nulls first, vm_id), next_try_at nulls first, vm_id limit 200`)

const claimFilter = (db: Queries, vmId: string, now: Date, until: Date) =>
  db.run(sql`update vm_filters set claimed_until = ${until} where vm_id = ${vmId} and ${pending(now)}`)

// Both write only while this process holds the claim (fencing): a later claimer's result is newer.
const recordApplied = (db: Queries, vmId: string, claim: Date, version: number, now: Date) =>
  db.run(sql`
    update vm_filters set applied_version = ${version}, applied_at = ${now}, error = null, claimed_until = null, next_try_at = null
    where vm_id = ${vmId} and claimed_until = ${claim}`)

const recordFailed = (db: Queries, vmId: string, claim: Date, error: string | null, nextTryAt: Date) =>
  db.run(sql`
    update vm_filters set error = ${error}, claimed_until = null, next_try_at = ${nextTryAt} where vm_id = ${vmId} and claimed_until = ${claim}`)

/** After a lost claim an older filter may have reached the host after a newer one, so the filter is applied again. */
const bumpWantedVersion = (db: Queries, vmId: string) =>
  db.run(sql`update vm_filters set desired_version = desired_version + 1 where vm_id = ${vmId}`)
