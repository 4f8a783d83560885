// Alerts: what a customer wants to be told of VMs or of the balance. Whether it is so is looked at by evaluate.reconciler.ts.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { isInProject, principalOf } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { releaseQuota, reserveQuota } from '../accounts/service.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { parseSelector } from '../labels/service.ts'
import { BY_THE_MINUTE, type Alert, type CreateAlert, type UpdateAlert } from './schema.ts'
import * as sql from './sql.ts'
import { toAlert, toEventData, vmOf } from './view.ts'

const QUOTA = 'alerts'
const FOR_MINUTES = 5

export const isByTheMinute = (metric: string): boolean => (BY_THE_MINUTE as readonly string[]).includes(metric)

export async function listAlerts(
  db: Queries,
  accountId: string,
  labelSelector: string | undefined,
  page: PageRequest,
): Promise<Paged<Alert>> {
  return pageOf(
    page,
    () => sql.countAlerts(db, accountId, labelSelector),
    async (range) => withFirings(db, await sql.listAlerts(db, accountId, labelSelector, range)),
  )
}

export async function getAlert(db: Queries, accountId: string, id: string): Promise<Alert> {
  const row = await sql.findAlert(db, accountId, id)
  if (!row) throw notFound('Alert')
  return (await withFirings(db, [row]))[0]!
}

async function withFirings(db: Queries, rows: sql.AlertRow[]): Promise<Alert[]> {
  const firings = await sql.firingsOf(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) =>
    toAlert(
      row,
      firings.filter(({ alert_id }) => alert_id === row.id),
    ),
  )
}

export async function createAlert(tx: Tx, now: Date, accountId: string, order: CreateAlert): Promise<Alert> {
  const { name, metric, comparison, threshold, forMinutes, vmIds = null, labelSelector = null, labels = {} } = order
  const row: sql.AlertRow = {
    id: newId(),
    account_id: accountId,
    name,
    metric,
    comparison,
    threshold,
    for_minutes: forMinutes ?? (isByTheMinute(metric) ? FOR_MINUTES : null),
    vm_ids: vmIds,
    label_selector: labelSelector,
    labels,
    created_at: now,
    updated_at: now,
  }
  await requireSound(tx, row)
  await sql.insertAlert(tx, row)
  await reserveQuota(tx, accountId, QUOTA, 1n)
  return toAlert(row, [])
}

export async function updateAlert(tx: Tx, now: Date, accountId: string, id: string, change: UpdateAlert): Promise<Alert> {
  if (Object.keys(change).length === 0)
    throw invalid('give at least one of name, comparison, threshold, forMinutes, vmIds, labelSelector, labels')
  const row = await sql.lockAlert(tx, accountId, id)
  if (!row) throw notFound('Alert')
  const { name, comparison, threshold, forMinutes, labels } = change
  const changed: sql.AlertRow = {
    ...row,
    name: name ?? row.name,
    comparison: comparison ?? row.comparison,
    threshold: threshold ?? row.threshold,
    for_minutes: forMinutes ?? row.for_minutes,
    vm_ids: change.vmIds === undefined ? row.vm_ids : change.vmIds,
    label_selector: change.labelSelector === undefined ? row.label_selector : change.labelSelector,
    labels: labels ?? row.labels,
    updated_at: now,
  }
  await requireSound(tx, changed, change.vmIds !== undefined)
  await sql.updateAlert(tx, changed)
  return toAlert(changed, await sql.firingsOf(tx, [id]))
}

/** `asksVms`: not again for those that it had, which may be gone. */
async function requireSound(tx: Tx, row: sql.AlertRow, asksVms = true): Promise<void> {
  const { metric, threshold, for_minutes, vm_ids, label_selector } = row
  if (metric.endsWith('Percent') && threshold > 100 && metric !== 'trafficPercent')
    throw invalid('threshold must be at most 100 percent', 'threshold')
  if (for_minutes !== null && !isByTheMinute(metric)) throw invalid(`forMinutes is not for ${metric}, which is so at once`, 'forMinutes')
  if (vm_ids && label_selector !== null) throw invalid('give vmIds or labelSelector, not both', 'labelSelector')
  const principal = principalOf(tx)
  if (metric === 'balanceDays' && principal && isInProject(principal))
    throw apiError('in_project', 'This is a project: only the account that pays for it is told of its balance')
  if (metric === 'balanceDays' && (vm_ids ?? label_selector) !== null)
    throw invalid('balanceDays is of the account: leave out vmIds and labelSelector', vm_ids ? 'vmIds' : 'labelSelector')
  if (label_selector !== null) parseSelector(label_selector)
  if (asksVms && vm_ids && (await sql.countOwnVms(tx, row.account_id, vm_ids)) < vm_ids.length) throw notFound('VM')
}

export async function deleteAlert(tx: Tx, deps: EventDeps, accountId: string, id: string): Promise<{ id: string }> {
  const row = await sql.lockAlert(tx, accountId, id)
  if (!row) throw notFound('Alert')
  const firings = await sql.firingsOf(tx, [id])
  await sql.deleteAlert(tx, id)
  await releaseQuota(tx, accountId, QUOTA, 1n)
  for (const firing of firings) {
    const data = toEventData(row, vmOf(firing), firing.fired_at, null, 'The alert was deleted')
    await recordEvent(tx, deps, { accountId, type: 'alert.resolved', subjectId: id, data })
  }
  return { id }
}

export async function deleteAlertsOf(tx: Tx, deps: EventDeps, accountId: string): Promise<void> {
  for (const { id } of await sql.alertsOf(tx, accountId)) await deleteAlert(tx, deps, accountId, id)
}
