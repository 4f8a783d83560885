// Looks once a minute at what alerts are for, and records that it has begun or ended. The row of where an alert fires and the event are written
// in one transaction, so each is told once, whatever process dies.
import { subtractDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { listUsage } from '../bandwidth/service.ts'
import { forecast } from '../billing/service.ts'
import { reconciler, type Deps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import { readMinutesOf, type MinuteOfVm } from '../metrics/service.ts'
import { getWallet } from '../wallet/service.ts'
import type { Alert, BY_THE_MINUTE } from './schema.ts'
import { isByTheMinute } from './service.ts'
import * as sql from './sql.ts'
import { toEventData, vmOf } from './view.ts'

const MINUTE_MS = 60_000
/** The part of its minutes that must have been measured. */
const ENOUGH = 0.75

export const evaluateAlerts = reconciler('alerts.evaluate', '15s', async (deps) => {
  const { db, clock, log } = deps
  const minute = new Date(Math.floor(clock.now().getTime() / MINUTE_MS) * MINUTE_MS)
  if (!(await sql.claimMinute(db, minute))) return
  await sql.forgetResolved(db, clock.now())
  for (const { account_id } of await sql.accountsWithAlerts(db))
    await evaluateAccount(deps, account_id, minute).catch((error: unknown) =>
      log.error({ err: error, accountId: account_id }, 'evaluating the alerts of an account failed'),
    )
})

/** What was measured: of a VM, or under ACCOUNT of the account. */
type Values = ReadonlyMap<string, number[]>

/** Those before `minute`, in which samples may still be on their way. */
async function evaluateAccount(deps: Deps, accountId: string, minute: Date): Promise<void> {
  const { db } = deps
  const alerts = await sql.alertsOf(db, accountId)
  const firings = await sql.firingsOf(
    db,
    alerts.map(({ id }) => id),
  )
  const targets = new Map<string, sql.Target[]>()
  for (const alert of alerts) if (alert.metric !== 'balanceDays') targets.set(alert.id, await sql.targetsOf(db, alert))
  const longest = Math.max(0, ...alerts.map(({ for_minutes }) => for_minutes ?? 0))
  const measured = alerts.filter(({ metric }) => isByTheMinute(metric)).flatMap(({ id }) => targets.get(id)!)
  const from = subtractDuration(minute, `${longest}m`)
  const minutes = await readMinutesOf(db, [...new Set(measured.map(({ id }) => id))], from, minute)
  const has = (metric: Alert['metric']): boolean => alerts.some((alert) => alert.metric === metric)
  const traffic = has('trafficPercent') ? await trafficPercents(deps, accountId) : new Map<string, number[]>()
  const balance = has('balanceDays') ? await balanceDays(deps, accountId) : new Map<string, number[]>()
  for (const alert of alerts) {
    const values = alert.metric === 'balanceDays' ? balance : alert.metric === 'trafficPercent' ? traffic : valuesOf(alert, minutes, minute)
    const mine = firings.filter(({ alert_id }) => alert_id === alert.id)
    await evaluateAlert(deps, alert, targets.get(alert.id) ?? [{ id: sql.ACCOUNT, name: '', status: '', labels: {} }], values, mine)
  }
}

async function trafficPercents({ db }: Deps, accountId: string): Promise<Values> {
  const usage = (await listUsage(db, accountId)).filter(({ capBytes }) => capBytes !== null && Number(capBytes) > 0)
  return new Map(usage.map(({ vmId, usedBytes, capBytes }) => [vmId, [(usedBytes * 100) / Number(capBytes)]]))
}

async function balanceDays({ db, clock, config }: Deps, accountId: string): Promise<Values> {
  const { daysLeft } = await getWallet(db, clock.now(), accountId, config.currency, forecast)
  return new Map(daysLeft === null ? [] : [[sql.ACCOUNT, [daysLeft]]])
}

function valuesOf({ metric, for_minutes }: sql.AlertRow, minutes: ReadonlyMap<string, MinuteOfVm[]>, until: Date): Values {
  const since = until.getTime() - for_minutes! * MINUTE_MS
  const valueOf = VALUES[metric as keyof typeof VALUES]
  return new Map(
    [...minutes].map(([vmId, all]) => [
      vmId,
      all
        .filter(({ at }) => at.getTime() >= since)
        .map(valueOf)
        .filter((value) => !Number.isNaN(value)),
    ]),
  )
}

const VALUES: Record<(typeof BY_THE_MINUTE)[number], (minute: MinuteOfVm) => number> = {
  cpuPercent: (each) => each.cpuPercent,
  ramPercent: (each) => (each.ramUsed * 100) / each.ramTotal,
  diskReadBytesPerSecond: (each) => each.diskRead,
  diskWriteBytesPerSecond: (each) => each.diskWrite,
  networkInBytesPerSecond: (each) => each.networkIn,
  networkOutBytesPerSecond: (each) => each.networkOut,
}

async function evaluateAlert(
  deps: Deps,
  alert: sql.AlertRow,
  targets: sql.Target[],
  values: Values,
  firings: sql.FiringRow[],
): Promise<void> {
  const isBeyond = (value: number): boolean => (alert.comparison === 'ABOVE' ? value > alert.threshold : value < alert.threshold)
  for (const vm of targets) {
    const firing = firings.find(({ vm_id }) => vm_id === vm.id)
    const known = values.get(vm.id) ?? []
    const isEnough = known.length >= (alert.for_minutes ?? 1) * ENOUGH
    if (!firing && isEnough && known.every(isBeyond)) await fire(deps, alert, vm, meanOf(known))
    if (!firing) continue
    if (isByTheMinute(alert.metric) && vm.status !== 'RUNNING') await resolve(deps, alert, firing, null, `The VM is ${vm.status}`)
    else if (isEnough && !known.some(isBeyond)) await resolve(deps, alert, firing, meanOf(known), null)
    else if (!isByTheMinute(alert.metric) && known.length === 0)
      await resolve(deps, alert, firing, null, 'There is nothing to measure any more')
  }
  const gone = firings.filter(({ vm_id }) => !targets.some(({ id }) => id === vm_id))
  for (const firing of gone) await resolve(deps, alert, firing, null, 'The VM was deleted, or is not one that the alert is for any more')
}

const meanOf = (values: number[]): number => Math.round((values.reduce((sum, each) => sum + each, 0) / values.length) * 100) / 100

const fire = (deps: Deps, alert: sql.AlertRow, vm: sql.Target, value: number): Promise<void> =>
  change(deps, alert, async (tx, now) => {
    if (await sql.fire(tx, now, alert.id, vm, value))
      await recordEvent(tx, deps, {
        accountId: alert.account_id,
        type: 'alert.fired',
        subjectId: alert.id,
        data: toEventData(alert, vm, now, value),
      })
  })

const resolve = (deps: Deps, alert: sql.AlertRow, firing: sql.FiringRow, value: number | null, reason: string | null): Promise<void> =>
  change(deps, alert, async (tx, now) => {
    const data = toEventData(alert, vmOf(firing), firing.fired_at, value, reason)
    if (await sql.resolve(tx, now, firing))
      await recordEvent(tx, deps, { accountId: alert.account_id, type: 'alert.resolved', subjectId: alert.id, data })
  })

/** Not of an alert that was changed or deleted since it was read. */
const change = ({ db, clock }: Deps, alert: sql.AlertRow, work: (tx: Tx, now: Date) => Promise<void>): Promise<void> =>
  db.tx(async (tx) => {
    const current = await sql.lockAlert(tx, alert.account_id, alert.id)
    if (current?.updated_at.getTime() === alert.updated_at.getTime()) await work(tx, clock.now())
  })
