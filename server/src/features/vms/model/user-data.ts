// User data of VMs, and what came of it. Nobody can read it back: it is sealed here, and opened for the seed of a disk alone.
import type { UserDataPart } from '../../../hypervisor/driver.ts'
import { sql, type Queries, type Tx } from '../../../kernel/database/db.ts'
import type { Row } from '../../../schema/rows.gen.ts'
import { setFollowUp } from '../../../workflow/run-store.ts'
import { payerOf } from '../../accounts/service.ts'
import { PENDING_INITIALIZATION, type ActionInitialization, type FollowUp } from '../../actions/schema.ts'
import type { Deps } from '../../deps.ts'

type UserDataRow = Row<'vm_user_data'>

/** What a disk of this generation is to be made with: of the latest row up to it. */
const effective = (db: Queries, vmId: string, generation: number) =>
  db.maybe<Pick<UserDataRow, 'generation' | 'sealed'>>(sql`
    select generation, sealed from vm_user_data where vm_id = ${vmId} and generation <= ${generation} order by generation desc limit 1`)

const purposeOf = (vmId: string): string => `user data:${vmId}`

export async function openUserData(
  { db, vault }: Pick<Deps, 'db' | 'vault'>,
  { id, generation }: { id: string; generation: number },
): Promise<UserDataPart[] | undefined> {
  const row = await effective(db, id, generation)
  return row?.sealed ? (JSON.parse(vault.open(row.sealed, purposeOf(id))) as UserDataPart[]) : undefined
}

/** Of the input of a run. */
export interface UserDataChange {
  /** True: the disk of the run is made with user data; false: no more; undefined: there is none, as before. */
  hasUserData?: boolean
}

/** With the start of the run. `parts`: undefined keeps what there is, which is done anew; null: none from this generation on. */
export async function storeUserData(
  tx: Tx,
  { vault }: Pick<Deps, 'vault'>,
  { vmId, generation, runId }: { vmId: string; generation: number; runId: string },
  parts: UserDataPart[] | null | undefined,
): Promise<UserDataChange> {
  const kept = parts === undefined ? (await effective(tx, vmId, generation))?.sealed : undefined
  const sealed = parts ? vault.seal(JSON.stringify(parts), purposeOf(vmId)) : (kept ?? null)
  if (sealed === null && parts === undefined) return {}
  await tx.run(sql`insert into vm_user_data (vm_id, generation, sealed, run_id) values (${vmId}, ${generation}, ${sealed}, ${runId})`)
  return { hasUserData: sealed !== null }
}

/** Of a VM that has no disk yet. */
export const dropUserData = (tx: Tx, vmId: string) => tx.run(sql`delete from vm_user_data where vm_id = ${vmId}`)

const tellAction = (tx: Tx, runId: string, initialization: ActionInitialization) =>
  setFollowUp(tx, runId, { initialization } satisfies FollowUp)

/** When the guest has booted. */
export const markInitializationDue = (tx: Tx, now: Date, vmId: string, runId: string) =>
  tx.run(
    sql`update vm_user_data set wanted_at = ${now}, due_at = ${now} where vm_id = ${vmId} and run_id = ${runId} and sealed is not null`,
  )

/** The disk of this generation is the VM's: what those before it were made with is of no use any more. */
export const dropEarlierUserData = (tx: Tx, vmId: string, generation: number) =>
  tx.run(sql`
    delete from vm_user_data where vm_id = ${vmId} and generation <= ${generation} and (sealed is null
      or generation < (select max(generation) from vm_user_data where vm_id = ${vmId} and generation <= ${generation}))`)

/** The disk was not made. */
export const revokeUserData = (tx: Tx, vmId: string, runId: string) =>
  tx.run(sql`delete from vm_user_data where vm_id = ${vmId} and run_id = ${runId}`)

export interface DueInitialization extends Pick<UserDataRow, 'vm_id' | 'run_id' | 'status'> {
  payer_id: string
  wanted_at: Date
  is_silent: boolean
}

export const dueInitializations = (db: Queries, now: Date) =>
  db.many<DueInitialization>(sql`
    select u.vm_id, u.run_id, u.status, coalesce(u.wanted_at, u.due_at) as wanted_at, y.payer_id, u.due_at > u.wanted_at as is_silent
    from vm_user_data u join vms v on v.id = u.vm_id cross join lateral (select ${payerOf(sql`v.account_id`)} as payer_id) y
    where u.due_at <= ${now} and v.status = 'RUNNING'
      and not exists (select from vm_rescues e where e.vm_id = v.id) -- also before it has started: the rescue system answers already
    order by row_number() over (partition by y.payer_id order by u.due_at > u.wanted_at, u.due_at, u.vm_id), u.due_at, u.vm_id limit 500`)

/** Nothing where it has ended meanwhile. */
export async function recordRunning(tx: Tx, due: DueInitialization, nextTryAt: Date, isRunning: boolean): Promise<void> {
  const status = isRunning ? 'RUNNING' : due.status
  const changed = await tx.run(sql`
    update vm_user_data set status = ${status}, due_at = ${nextTryAt} where vm_id = ${due.vm_id} and run_id = ${due.run_id} and due_at is not null`)
  if (changed > 0 && status !== due.status) await tellAction(tx, due.run_id, { ...PENDING_INITIALIZATION, status })
}

/** False where it has ended already: whoever gets true tells of it. */
export async function recordEnd(tx: Tx, due: DueInitialization, end: ActionInitialization): Promise<boolean> {
  const changed = await tx.run(sql`
    update vm_user_data set status = ${end.status}, seconds = ${end.seconds}, errors = ${end.errors}::text[], wanted_at = null, due_at = null
    where vm_id = ${due.vm_id} and run_id = ${due.run_id} and due_at is not null`)
  if (changed > 0) await tellAction(tx, due.run_id, end)
  return changed > 0
}

/** Of a VM that is deleted: its actions outlive it. */
export async function abandonInitialization(tx: Tx, vmId: string): Promise<void> {
  const rows = await tx.many<Pick<UserDataRow, 'run_id'>>(
    sql`select run_id from vm_user_data where vm_id = ${vmId} and status in ('PENDING', 'RUNNING') and sealed is not null`,
  )
  for (const { run_id } of rows)
    await tellAction(tx, run_id, { ...PENDING_INITIALIZATION, status: 'UNKNOWN', errors: ['The VM was deleted before it had ended'] })
}

/** As the view of a VM shows it. */
export const initializationAsJson = (vmId: ReturnType<typeof sql>) => sql`
  (select case when u.sealed is not null then json_build_object('status', u.status, 'seconds', u.seconds, 'errors', u.errors) end
    from vm_user_data u where u.vm_id = ${vmId} order by u.generation desc limit 1)`
