// Brings changed filters to their hosts: one VM after the other on each host, since a host does them one by one anyway, and hosts side
// by side. A VM whose rules are just being changed is left alone until they rest, so that a burst of changes costs one apply.
import { after, sleep } from '../../kernel/clock.ts'
import { sql, type Queries } from '../../kernel/db.ts'
import { lanedReconciler, type Deps } from '../deps.ts'
import { askHost, CLAIM, isSilent, pauseAfter } from '../hosts/service.ts'
import { APPLY, filterOf } from './filters.ts'

const LOOK_EVERY_MS = 120
const MOST_LOOKS = 8

export const applyFilters = lanedReconciler(APPLY, '5s', {
  busy: async ({ db, clock }) => (await hostsWithPending(db, clock.now())).map((row) => row.host_id),
  pass: applyOnHost,
})

async function applyOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  for (;;) {
    const vmIds = await restingVms(deps, hostId)
    if (vmIds.length === 0) return
    for (const vmId of vmIds) {
      if (stopping.aborted || !(await applyOne(deps, hostId, vmId, stopping))) return
    }
  }
}

/** VMs whose wanted version was the same at two looks; all of them when the changes do not end. */
async function restingVms({ db, clock }: Deps, hostId: string): Promise<string[]> {
  let before = await pendingOn(db, hostId, clock.now())
  for (let look = 1; before.length > 0; look++) {
    await sleep(LOOK_EVERY_MS)
    const now = await pendingOn(db, hostId, clock.now())
    const versions = new Map(before.map(({ vm_id, wanted }) => [vm_id, wanted]))
    const resting = look === MOST_LOOKS ? now : now.filter(({ vm_id, wanted }) => versions.get(vm_id) === wanted)
    if (resting.length > 0) return resting.map((row) => row.vm_id)
    before = now
  }
  return []
}

/** False when the host had better be left alone for now. */
async function applyOne(deps: Deps, hostId: string, vmId: string, stopping: AbortSignal): Promise<boolean> {
  const { db, clock } = deps
  const claim = after(clock.now(), CLAIM)
  if (!(await claimFilter(db, vmId, clock.now(), claim))) return true
  const { version, filter } = await filterOf(db, vmId)
  const error = await askHost(deps, hostId, stopping, (driver, signal) => driver.ensureFilter(vmId, filter, signal))
  if (!error) await recordApplied(db, vmId, claim, version, clock.now())
  else if (stopping.aborted) await recordFailed(db, vmId, claim, null, clock.now())
  else await recordFailed(db, vmId, claim, error.sentence, after(clock.now(), pauseAfter(error)))
  return !error || !isSilent(error)
}

const pending = (now: Date) => sql`
  is_live and applied is distinct from wanted and coalesce(claimed_until, '-infinity') <= ${now} and coalesce(next_try_at, '-infinity') <= ${now}`

const hostsWithPending = (db: Queries, now: Date) =>
  db.many<{ host_id: string }>(sql`select distinct host_id from vm_filters where ${pending(now)}`)

const pendingOn = (db: Queries, hostId: string, now: Date) =>
  db.many<{ vm_id: string; wanted: number }>(sql`
    select vm_id, wanted from vm_filters where host_id = ${hostId} and ${pending(now)} order by next_try_at nulls first, vm_id limit 200`)

const claimFilter = (db: Queries, vmId: string, now: Date, until: Date) =>
  db.run(sql`update vm_filters set claimed_until = ${until} where vm_id = ${vmId} and ${pending(now)}`)

// Both write only while the claim holds: whoever put another filter there meanwhile knows better.
const recordApplied = (db: Queries, vmId: string, claim: Date, version: number, now: Date) =>
  db.run(sql`
    update vm_filters set applied = ${version}, applied_at = ${now}, error = null, claimed_until = null, next_try_at = null
    where vm_id = ${vmId} and claimed_until = ${claim}`)

const recordFailed = (db: Queries, vmId: string, claim: Date, error: string | null, nextTryAt: Date) =>
  db.run(sql`
    update vm_filters set error = ${error}, claimed_until = null, next_try_at = ${nextTryAt} where vm_id = ${vmId} and claimed_until = ${claim}`)
