// Actions of all accounts with their steps, the quarantine, and system health.
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { counted } from '../../kernel/counted.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { VERSION } from '../../kernel/version.ts'
import { stepsOf } from '../../workflow/run-store.ts'
import { recordByOperator } from '../audit-log/service.ts'
import { listOrphanVolumes } from '../backups/service.ts'
import type { Deps } from '../deps.ts'
import type { OperatorAction, OperatorActionDetails, Stray, SystemHealth } from './work.schema.ts'
import * as sql from './sql.ts'
import { toAction, toStep, toStray } from './view.ts'

export async function showActions(db: Queries, filter: sql.RunFilter, page: PageRequest): Promise<Paged<OperatorAction>> {
  return pageOf(
    page,
    () => sql.countActions(db, filter),
    async (range) => (await sql.listActions(db, filter, range)).map(toAction),
  )
}

async function requireAction(db: Queries, id: string): Promise<sql.ActionRow> {
  const row = await sql.findAction(db, id)
  if (!row) throw notFound('Action')
  return row
}

export async function showAction(db: Queries, id: string): Promise<OperatorActionDetails> {
  const row = await requireAction(db, id)
  return { ...toAction(row), steps: (await stepsOf(db, [id])).map(toStep) }
}

/** Only a waiting action can be retried now: a finished one has been compensated and refunded, and its owner requests it again. */
export async function retryAction(tx: Tx, { workflows, clock }: Deps, id: string): Promise<OperatorAction> {
  const row = await requireAction(tx, id)
  if (row.completed_at && !row.compensating)
    throw apiError('invalid_state', `This action has ended as ${row.status}: order it again instead`)
  if (!(await workflows.retryNow(tx, id))) throw apiError('busy', 'A worker is at this action right now: look again in a moment')
  if (row.owner_id) recordByOperator(tx, clock.now(), { accountId: row.owner_id, action: 'action retry', resourceIds: [id] })
  return toAction(await requireAction(tx, id))
}

export const listQuarantine = async (db: Queries): Promise<Stray[]> => (await listOrphanVolumes(db)).map(toStray)

export type HealthChecks = () => Promise<[name: string, message: string][]>

/** Counts that are never an alert. */
const ORDINARY = new Set(['runningActions', 'waitingActions', 'openTickets', 'quarantinedVolumes'])

export async function showHealth({ db, clock }: Deps, look: HealthChecks, startedAt: Date): Promise<SystemHealth> {
  const now = clock.now()
  const counts = await sql.systemCounts(db, now, subtractDuration(now, '10m'), subtractDuration(now, '24h'))
  const named = Object.entries(counts).map(([name, count]) => ({ name: wireName(name), count }))
  return {
    version: VERSION,
    schema: await sql.newestMigration(db),
    startedAt: startedAt.toISOString(),
    checks: (await look()).map(([name, message]) => {
      const found = name === 'host' && message === 'ok' && counts.unreachable_hosts > 0 ? silentHosts(counts.unreachable_hosts) : message
      return { name, isOk: found === 'ok', message: found }
    }),
    counts: named.map(({ name, count }) => ({ name, count, isAlert: count > 0 && !ORDINARY.has(name) })),
  }
}

/** An API without them serves requests all the same, so its readiness does not say so. */
const silentHosts = (count: number): string => `${counted(count, 'host')} unreachable: berthd doctor hosts`

const wireName = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
