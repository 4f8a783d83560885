// Projects: accounts that another one pays for. Resources, members and tokens hang on them as on any account; money and limits are those of
// the payer, whose owners and admins are the same in its projects. They are made, named and ended by the payer alone.
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import {
  areProjectsBarred,
  insertProject,
  lockAccount,
  lockProject,
  lockTokensOf,
  markDeleted,
  releaseQuota,
  reserveQuota,
  updateAccount,
} from '../accounts/service.ts'
import { deleteAlertsOf } from '../alerts/service.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { endMemberships } from '../members/service.ts'
import { closeTicketsOf } from '../support/staff.ts'
import { deleteTokensOf } from '../tokens/service.ts'
import { deleteWebhooksOf } from '../webhooks/service.ts'
import type { CreateProject, Project, RenameProject } from './schema.ts'
import * as sql from './sql.ts'
import { toEventProject, toProject } from './view.ts'

const QUOTA = 'projects'

export const listProjects = (db: Queries, payerId: string, page: PageRequest): Promise<Paged<Project>> =>
  pageOf(
    page,
    () => sql.countProjects(db, payerId),
    async (range) => (await sql.listProjects(db, payerId, range)).map(toProject),
  )

export async function getProject(db: Queries, payerId: string, id: string): Promise<Project> {
  const row = await sql.findProject(db, payerId, id)
  if (!row) throw notFound('Project')
  return toProject(row)
}

export async function createProject(tx: Tx, deps: EventDeps, { accountId }: Principal, { name }: CreateProject): Promise<Project> {
  if (await areProjectsBarred(tx))
    throw apiError('unavailable', 'There can be no projects before the upgrade of this installation is completed. Try again later')
  await lockAccount(tx, accountId) // not while it is being suspended
  await reserveQuota(tx, accountId, QUOTA, 1n)
  const row = { id: newId(), name, payer_account_id: accountId, created_at: deps.clock.now() }
  await insertProject(tx, row)
  await record(tx, deps, 'project.created', accountId, row)
  return toProject({ ...row, vm_count: 0 })
}

export async function renameProject(
  tx: Tx,
  deps: EventDeps,
  { accountId }: Principal,
  id: string,
  { name }: RenameProject,
): Promise<Project> {
  await requireLocked(tx, accountId, id)
  await record(tx, deps, 'project.renamed', accountId, await updateAccount(tx, id, name, null))
  return getProject(tx, accountId, id)
}

/** What it was charged stays in the ledger, under its name. */
export async function deleteProject(tx: Tx, deps: EventDeps, { accountId }: Principal, id: string): Promise<{ id: string }> {
  const now = deps.clock.now()
  await getProject(tx, accountId, id)
  await lockAccount(tx, accountId)
  await lockTokensOf(tx, now, id, [])
  const project = await requireLocked(tx, accountId, id)
  await requireEmpty(tx, id)
  await deleteTokensOf(tx, deps, id)
  await endMemberships(tx, id)
  await deleteAlertsOf(tx, deps, id)
  await closeTicketsOf(tx, deps, id)
  await deleteWebhooksOf(tx, now, id)
  await markDeleted(tx, id, now)
  await releaseQuota(tx, accountId, QUOTA, 1n)
  await record(tx, deps, 'project.deleted', accountId, project)
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

type ProjectEvent = 'project.created' | 'project.renamed' | 'project.deleted'

const record = (tx: Tx, deps: EventDeps, type: ProjectEvent, accountId: string, row: Parameters<typeof toEventProject>[0]) =>
  recordEvent(tx, deps, { accountId, type, subjectId: row.id, data: { project: toEventProject(row) } })
