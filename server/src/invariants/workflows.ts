// Every action ends by its deadline, and none is lost.
import { sql, type Sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'

const open = sql`(r.status in ('PENDING', 'RUNNING') or r.compensating)`

/** Whether an action is open on the VM with this id, or is being rolled back. */
export const isWorkedOn = (vmId: Sql): Sql => sql`exists (select from workflow_runs r where r.subject_id = ${vmId} and ${open})`

/** The same for the VM `v` of a query. */
export const isBusy: Sql = isWorkedOn(sql`v.id`)

const UNDO_GRACE_MS = 15 * 60_000
const STALLED_AFTER_MS = 10 * 60_000
const before = (now: Date, ms: number): Date => new Date(now.getTime() - ms)

const inTime = invariant(
  'actions.deadline',
  'Every action has ended by its deadline plus the time for its compensation',
  ({ now }) => sql`
    select id, format('%s of %s is %s, its deadline was %s', label, coalesce(subject_id, 'nothing'), status, deadline_at) as what
    from workflow_runs r where ${open} and deadline_at < ${before(now, UNDO_GRACE_MS)}`,
)

const stalled = invariant(
  'actions.stalled',
  'Every open action is being processed',
  ({ now }) => sql`
    select id, format('%s of %s is %s, and nobody has looked at it since %s', label, coalesce(subject_id, 'nothing'), status,
      coalesce(lease_until, next_attempt_at)) as what
    from workflow_runs r where ${open} and coalesce(lease_until, next_attempt_at) < ${before(now, STALLED_AFTER_MS)}`,
)

const journal = invariant(
  'actions.journal',
  'The status of an action matches its journal',
  ({ since }) => sql`
    select id, format('%s is %s, completed at %s', label, status, coalesce(completed_at::text, 'no time')) as what from workflow_runs
    where (status in ('PENDING', 'RUNNING')) <> (completed_at is null)
    union all
    select r.id, format('%s is COMPLETED, but its step %s was taken back', r.label, s.name)
    from workflow_runs r join workflow_steps s on s.run_id = r.id
    where r.status = 'COMPLETED' and s.status = 'UNDONE' and r.completed_at >= ${since}`,
)

const onVms = invariant(
  'actions.vm_exists',
  'No action is open on a deleted VM',
  () => sql`
    select id, format('%s works on VM %s, which is gone', label, subject_id) as what from workflow_runs r
    where ${open} and name like 'vm.%' and not exists (select from vms v where v.id = r.subject_id)`,
)

const transitional = invariant(
  'vms.transitional',
  'A VM is in a transitional state only while an action is open',
  () => sql`
    select v.id, format('VM %s is %s and no action works on it', v.name, v.status) as what from vms v
    where v.status in ('PROVISIONING', 'REBUILDING', 'UPGRADING') and not ${isBusy}`,
)

const copies = invariant(
  'copies.transitional',
  'A snapshot or backup is in a transitional state only while an action is open',
  () => sql`
    select s.id, format('snapshot %s of VM %s is %s and no action works on it', s.name, v.id, s.status) as what
    from snapshots s join vms v on v.id = s.vm_id where s.status in ('CREATING', 'RESTORING', 'DELETING') and not ${isBusy}
    union all
    select b.id, format('backup %s of VM %s is %s and no action works on it', b.name, v.id, b.status)
    from backups b join vms v on v.id = b.vm_id where b.status in ('PENDING', 'RUNNING', 'RESTORING') and not ${isBusy}
    union all
    select s.id, format('snapshot %s of volume %s is %s and no action works on it', s.name, o.id, s.status)
    from volume_snapshots s join volumes o on o.id = s.volume_id
    where s.status in ('CREATING', 'RESTORING', 'DELETING') and o.run_id is null and o.deleted_at is null`,
)

const proofs = invariant(
  'backups.proofs',
  'A guest that proves a backup is gone when its run has ended',
  () => sql`
    select p.id, format('host %s may still have the guest for backup %s', h.name, p.backup_id) as what
    from backup_proofs p join hosts h on h.id = p.host_id
    where h.unreachable_since is null and not exists (select from workflow_runs r where r.id = p.run_id and ${open})`,
  { settle: '10m' },
)

export const workflowInvariants: Invariant[] = [inTime, stalled, journal, onVms, transitional, copies, proofs]
