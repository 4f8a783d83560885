// Projects: accounts that another one pays for. Resources, members and tokens hang on them as on any account; money and limits are those of
// the payer, whose owners and admins are the same in its projects. They are made, named and ended by the payer alone.
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { parseDurationMs, subtractDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, ApiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import {
  areProjectsBarred,
  insertProject,
  lockProject,
  lockTokensOf,
  markDeleted,
  notifyTokensOf,
  releaseQuota,
  reserveQuota,
  updateAccount,
} from '../accounts/service.ts'
import { deleteAlertsOf } from '../alerts/service.ts'
import { findBudget, findViews, projectHolder, setBudget, withChanges, type Budget } from '../budgets/service.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { endMemberships, holdMembers, lockAs, requireRaisesNone } from '../members/service.ts'
import { closeTicketsOf } from '../support/staff.ts'
import { deleteTokensOf } from '../tokens/service.ts'
import { deleteWebhooksOf } from '../webhooks/service.ts'
import type { CreateProject, Project, UpdateProject } from './schema.ts'
import * as sql from './sql.ts'
import { toEventProject, toProject } from './view.ts'

const QUOTA = 'projects'
/** A deleted project stays as a row, for the ledger. */
const PER_DAY = 100

export const listProjects = (db: Queries, now: Date, payerId: string, page: PageRequest): Promise<Paged<Project>> =>
  pageOf(
    page,
    () => sql.countProjects(db, payerId),
    async (range) => show(db, now, await sql.listProjects(db, payerId, range)),
  )

async function show(db: Queries, now: Date, rows: sql.ProjectRow[]): Promise<Project[]> {
  const budgets = await findViews(
    db,
    now,
    rows.map(({ id }) => ({ holder: projectHolder(id) })),
  )
  return rows.map((row) => toProject(row, budgets.get(row.id) ?? null))
}

export async function getProject(db: Queries, now: Date, payerId: string, id: string): Promise<Project> {
  const row = await sql.findProject(db, payerId, id)
  if (!row) throw notFound('Project')
  return (await show(db, now, [row]))[0]!
}

export async function createProject(
  tx: Tx,
  deps: EventDeps,
  principal: Principal,
  { name, budget: given }: CreateProject,
): Promise<Project> {
  const now = deps.clock.now()
  const { accountId } = principal
  if (await areProjectsBarred(tx))
    throw apiError('unavailable', 'There can be no projects before the upgrade of this installation is completed. Try again later')
  await lockAs(tx, now, principal, 'projects:create') // not while it is being suspended
  await requireRate(tx, now, accountId)
  await reserveQuota(tx, accountId, QUOTA, 1n)
  const row = { id: newId(), name, payer_account_id: accountId, created_at: now }
  await insertProject(tx, row)
  const budget = withChanges(null, given)
  if (budget) await setBudget(tx, row.id, projectHolder(row.id), budget)
  await record(tx, deps, 'project.created', accountId, row, budget)
  return getProject(tx, now, accountId, row.id)
}

async function requireRate(tx: Tx, now: Date, payerId: string): Promise<void> {
  if ((await sql.countSince(tx, payerId, subtractDuration(now, '1d'))) < PER_DAY) return
  const message = `Rate limit exceeded: an account makes ${PER_DAY} projects a day at most. Try again later`
  throw new ApiError('rate_limited', message, [], parseDurationMs('1h') / 1000)
}

/** Who has a budget raises none: its own members would spend beyond it. */
export async function updateProject(
  tx: Tx,
  deps: EventDeps,
  principal: Principal,
  id: string,
  { name, budget: change }: UpdateProject,
): Promise<Project> {
  const now = deps.clock.now()
  const { accountId } = principal
  if (name === undefined && change === undefined) throw invalid('give at least one of name and budget')
  await getProject(tx, now, accountId, id)
  const caller = await lockAs(tx, now, principal, 'projects:update')
  await requireLocked(tx, accountId, id)
  const before = await findBudget(tx, projectHolder(id))
  const budget = withChanges(before, change)
  requireRaisesNone(caller, before, budget)
  if (change !== undefined) {
    await setBudget(tx, id, projectHolder(id), budget)
    await notifyTokensOf(tx, id, null)
  }
  await record(tx, deps, 'project.updated', accountId, await updateAccount(tx, id, name ?? null, null), budget)
  return getProject(tx, now, accountId, id)
}

/** What it was charged stays in the ledger, under its name. */
export async function deleteProject(tx: Tx, deps: EventDeps, principal: Principal, id: string): Promise<{ id: string }> {
  const now = deps.clock.now()
  const { accountId } = principal
  await getProject(tx, now, accountId, id)
  await lockAs(tx, now, principal, 'projects:delete')
  await holdMembers(tx, id)
  await lockTokensOf(tx, now, id, [])
  const project = await requireLocked(tx, accountId, id)
  await requireEmpty(tx, id)
  await deleteTokensOf(tx, deps, id)
  await endMemberships(tx, id)
  await setBudget(tx, id, projectHolder(id), null)
  await deleteAlertsOf(tx, deps, id)
  await closeTicketsOf(tx, deps, id)
  await deleteWebhooksOf(tx, now, id)
  await markDeleted(tx, id, now)
  await releaseQuota(tx, accountId, QUOTA, 1n)
  await record(tx, deps, 'project.deleted', accountId, project, null)
  return { id }
}

async function requireLocked(tx: Tx, payerId: string, id: string) {
  const project = await lockProject(tx, payerId, id)
  if (!project) throw notFound('Project')
  return project
}

async function requireEmpty(tx: Tx, id: string): Promise<void> {
  const held = await sql.countResources(tx, id)
  if (held.length === 0) return
  const words = held.map(({ what, count }) => `${count} ${what}${count === 1 ? '' : what.endsWith('s') ? 'es' : 's'}`)
  throw apiError('in_use', `The project is in use: it has ${words.join(', ')}. Delete these first`)
}

type ProjectEvent = 'project.created' | 'project.updated' | 'project.deleted'

const record = (
  tx: Tx,
  deps: EventDeps,
  type: ProjectEvent,
  accountId: string,
  row: Omit<sql.ProjectRow, 'vm_count'>,
  budget: Budget | null,
) => recordEvent(tx, deps, { accountId, type, subjectId: row.id, data: { project: toEventProject(row, budget) } })
