// Maintenances of hosts that an operator announces to the customers concerned: those with a VM on the host. They are not told which host.
import { pageOf, TEXT_PATTERN, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { sha256Hex } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { getHost } from '../hosts/service.ts'
import type { Maintenance } from './schema.ts'
import * as sql from './sql.ts'

export interface NewMaintenance {
  /** By id or name. */
  host: string
  startsAt: Date
  endsAt: Date
  text: string
}

const LONGEST_TEXT = 2_000
const TEXT = new RegExp(TEXT_PATTERN, 'u')

export interface Announced {
  id: string
  /** How many were told. */
  accounts: number
}

export async function announceMaintenance(tx: Tx, deps: EventDeps, { host, startsAt, endsAt, text }: NewMaintenance): Promise<Announced> {
  const now = deps.clock.now()
  if (!(endsAt > startsAt && endsAt > now)) throw invalid('it must end after it begins, and in the future', 'endsAt')
  if (text.trim() === '' || text.length > LONGEST_TEXT || !TEXT.test(text))
    throw invalid(`it must be 1-${LONGEST_TEXT} characters, without control characters`, 'text')
  const { id: hostId } = await getHost(tx, host)
  const id = newId()
  await sql.insertMaintenance(tx, { id, host_id: hostId, text, starts_at: startsAt, ends_at: endsAt, created_at: now })
  await sql.recordAccounts(tx, id, hostId)
  return { id, accounts: await tell(tx, deps, id, 'maintenance.announced') }
}

/** Of one that has not ended; also by the id that a customer has of it. */
export async function cancelMaintenance(tx: Tx, deps: EventDeps, anyId: string, { isTold = true } = {}): Promise<Announced> {
  const now = deps.clock.now()
  const id = (await findId(tx, anyId)) ?? anyId
  const row = await sql.lockMaintenance(tx, id)
  if (!row) throw notFound('Maintenance')
  const state = stateOf(row, now)
  if (state === 'COMPLETED' || state === 'CANCELLED') throw apiError('invalid_state', `Maintenance is ${state} already`)
  await sql.markCancelled(tx, now, id)
  return { id, accounts: isTold ? await tell(tx, deps, id, 'maintenance.cancelled') : 0 }
}

/** Of a host that is removed. Not told of one that was destroyed: its customers hear of that. */
export async function cancelMaintenancesOf(tx: Tx, deps: EventDeps, hostId: string, options?: { isTold: boolean }): Promise<void> {
  for (const { id } of await sql.openOn(tx, hostId, deps.clock.now())) await cancelMaintenance(tx, deps, id, options)
}

async function tell(tx: Tx, deps: EventDeps, id: string, type: 'maintenance.announced' | 'maintenance.cancelled'): Promise<number> {
  const accounts = await sql.accountsOf(tx, id)
  for (const accountId of accounts) {
    const maintenance = toMaintenance(await sql.getOwn(tx, accountId, id), accountId, deps.clock.now())
    const vms = await sql.namesOf(tx, maintenance.vmIds)
    await recordEvent(tx, deps, { accountId, type, subjectId: maintenance.id, data: { maintenance, vms } })
  }
  return accounts.length
}

export async function listMaintenances(db: Queries, now: Date, accountId: string, page: PageRequest): Promise<Paged<Maintenance>> {
  return pageOf(
    page,
    () => sql.countOwn(db, accountId, now),
    async (range) => (await sql.listOwn(db, accountId, now, range)).map((row) => toMaintenance(row, accountId, now)),
  )
}

export interface ListedMaintenance {
  id: string
  host: string
  state: Maintenance['state']
  startsAt: string
  endsAt: string
  /** Told of it. */
  accounts: number
  /** On the host now. */
  vms: number
  text: string
}

/** For operators: all, or the one that they or a customer call so. */
export async function listAllMaintenances(db: Queries, now: Date, anyId?: string): Promise<ListedMaintenance[]> {
  const rows = await sql.listAll(db)
  if (anyId === undefined) return rows.map((row) => toListed(row, now))
  const id = (await findId(db, anyId)) ?? anyId
  return rows.filter((row) => row.id === id).map((row) => toListed(row, now))
}

const toListed = (row: sql.CountedMaintenance, now: Date): ListedMaintenance => ({
  id: row.id,
  host: row.host_name,
  state: stateOf(row, now),
  startsAt: row.starts_at.toISOString(),
  endsAt: row.ends_at.toISOString(),
  accounts: row.accounts,
  vms: row.vms,
  text: row.text,
})

function stateOf({ starts_at, ends_at, cancelled_at }: sql.MaintenanceRow, now: Date): Maintenance['state'] {
  if (cancelled_at !== null) return 'CANCELLED'
  if (ends_at <= now) return 'COMPLETED'
  return starts_at <= now ? 'IN_PROGRESS' : 'SCHEDULED'
}

/** Each account sees another: by the same one two would know that they share a host. */
const idFor = (id: string, accountId: string): string =>
  `c${BigInt(`0x${sha256Hex(`${id} ${accountId}`)}`)
    .toString(36)
    .slice(-24)}`

const findId = async (db: Queries, customersId: string): Promise<string | undefined> =>
  (await sql.listConcerned(db)).find(({ maintenance_id, account_id }) => idFor(maintenance_id, account_id) === customersId)?.maintenance_id

function toMaintenance(row: sql.OwnMaintenance, accountId: string, now: Date): Maintenance {
  return {
    id: idFor(row.id, accountId),
    state: stateOf(row, now),
    startsAt: row.starts_at.toISOString(),
    endsAt: row.ends_at.toISOString(),
    vmIds: row.vm_ids,
    text: row.text,
    createdAt: row.created_at.toISOString(),
  }
}
