// `berthd host recover`: the VMs of a fenced host, started elsewhere, or of a destroyed one, restored elsewhere. The work is done by workers; this command starts it, and watches.
// Interrupted, it is run again: what is under way goes on meanwhile.
import type { Deps } from '../../features/deps.ts'
import { getHost, type HostRow } from '../../features/hosts/service.ts'
import { cancelMaintenancesOf } from '../../features/maintenances/service.ts'
import {
  BUSY,
  declareDestroyed,
  forgetHost,
  formatAge,
  isAnswering,
  isSettled,
  listWaitingRecoveries,
  planRecovery,
  recoveriesFrom,
  removeLost,
  requestRecovery,
  startRecoveries,
  vmIdsOf,
  type Lost,
  type RecoveryPlan,
  type RecoveryRun,
  type Started,
} from '../../features/recovery/service.ts'
import { sleep } from '../../kernel/clock.ts'
import { isJson, withCore, type Admin, type OutputOptions } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { showLine, table, type Result } from '../output.ts'
import { revokeCertificatesOf } from './certificate.ts'
import { counted } from '../../kernel/counted.ts'

export interface RecoverOptions extends OutputOptions {
  destroyed?: boolean
  to?: string[]
  dryRun?: boolean
}

const LOOK_EVERY_MS = 1_000
/** For actions that were under way on the host: a worker ends them. */
const SETTLE_LOOKS = 120

export const recover = (admin: Admin, options: RecoverOptions, name: string): Promise<Result> =>
  withCore(admin, async (deps) => {
    const host = await getHost(deps.db, name)
    const among = options.to && new Set(await Promise.all(options.to.map((each) => targetOf(deps, host, each))))
    const isDestroyed = Boolean(options.destroyed) || host.fenced_at === null || host.lost_at !== null
    if (options.dryRun) {
      const plan = await planRecovery(deps, host, among, isDestroyed)
      return showPlan(host, plan, { answers: await isAnswering(deps, host), isDestroyed, isAsked: Boolean(options.destroyed) })
    }
    if (!isDestroyed) {
      const { started, runs } = await recoverFenced(deps, host, among, { isShown: !isJson(options) })
      return reportStarted(host, started, runs)
    }
    if (!options.destroyed && host.lost_at !== null)
      throw new UsageError(
        `Nothing was changed. ${host.name} was declared destroyed, and not all of it is recovered. To go on: npx berthd host recover ${host.name} --destroyed`,
      )
    if (!options.destroyed)
      throw new UsageError(
        `Nothing was changed. A VM that runs on two hosts destroys its data: fence ${host.name} first (npx berthd host fence ${host.name}), or, only if it can never run its VMs again, add --destroyed. What would be recovered: npx berthd host recover ${host.name} --dry-run`,
      )
    await declareDestroyed(deps, host)
    await deps.db.tx((tx) => cancelMaintenancesOf(tx, deps, host.id, { isTold: false }))
    const certificates = await revokeCertificatesOf(admin, host)
    const isSettledNow = await settle(deps, host)
    const lost = await removeLost(deps, host)
    const had = await vmIdsOf(deps.db, host.id)
    const started = await startRecoveries(deps, host.id, among)
    const runs = await watch(deps, host, { started, had }, { isShown: !isJson(options) })
    const isForgotten = await forgetHost(deps.db, deps.clock.now(), host.id)
    return report(host, { started, runs, lost, isForgotten, isSettled: isSettledNow, certificates })
  })

export async function listRecoveries({ db }: Admin): Promise<Result> {
  const rows = (await listWaitingRecoveries(db)).map((row) => ({
    vmId: row.vm_id,
    name: row.vm_name,
    from: row.source,
    host: row.host_name,
    failures: row.failures,
    nextAttempt: row.is_under_way
      ? 'under way'
      : (row.next_attempt_at?.toISOString() ?? `npx berthd host recover ${row.source} --destroyed`),
    actionId: row.action_id,
    problem: [row.step, row.problem ?? 'cancelled'].filter((each) => each !== null).join(': '),
  }))
  return table(
    rows,
    ['vmId', 'name', 'from', 'host', 'failures', 'nextAttempt', 'actionId', 'problem'],
    'No VM of a lost host waits to be started elsewhere',
  )
}

interface Watching {
  isShown: boolean
  pause?: (ms: number) => Promise<unknown>
}

/** Actions that were under way on it end first. What a worker has moved meanwhile counts too. */
export async function recoverFenced(
  deps: Deps,
  host: HostRow,
  among: ReadonlySet<string> | undefined,
  watching: Watching,
): Promise<{ started: Started[]; runs: RecoveryRun[] }> {
  const had = await vmIdsOf(deps.db, host.id)
  await requestRecovery(deps, host)
  const own: Started[] = []
  let waiting: Started[] = []
  for (let looks = 0; looks < SETTLE_LOOKS; looks++) {
    const now = await startRecoveries(deps, host.id, among)
    own.push(...now.filter(({ outcome }) => outcome === 'STARTED'))
    waiting = now.filter(({ outcome }) => outcome !== 'STARTED')
    if (!waiting.some((each) => each.outcome === 'WAITS' && each.reason === BUSY)) break
    await (watching.pause ?? sleep)(LOOK_EVERY_MS)
  }
  const started = [...own, ...waiting]
  return { started, runs: await watch(deps, host, { started, had }, watching) }
}

async function targetOf({ db }: Deps, host: HostRow, name: string): Promise<string> {
  const { id, region_id } = await getHost(db, name)
  if (id === host.id || region_id !== host.region_id)
    throw new UsageError(`${name} cannot take the VMs of ${host.name}: it must be another host of the same region`)
  return id
}

async function settle({ db }: Deps, host: HostRow): Promise<boolean> {
  for (let looks = 0; looks < SETTLE_LOOKS; looks++) {
    if (await isSettled(db, host)) return true
    await sleep(LOOK_EVERY_MS)
  }
  return false
}

const secondsOf = ({ started_at, completed_at }: RecoveryRun): number | null =>
  started_at && completed_at && (completed_at.getTime() - started_at.getTime()) / 1000

const isOver = ({ status, compensating }: RecoveryRun): boolean => status !== 'PENDING' && status !== 'RUNNING' && !compensating

interface Watched {
  started: Started[]
  /** Ids of VMs that were on the host at first. */
  had: string[]
}

/** Also those that an earlier call or a worker has started. */
async function watch({ db }: Deps, host: HostRow, { started, had }: Watched, { isShown, pause = sleep }: Watching): Promise<RecoveryRun[]> {
  const own = started.flatMap((each) => (each.outcome === 'STARTED' ? [each.runId] : []))
  const ids = new Set([...own, ...(await recoveriesFrom(db, host.id, own, had)).map(({ id }) => id)])
  const over = new Map<string, RecoveryRun>()
  while (over.size < ids.size) {
    const runs = await recoveriesFrom(db, host.id, [...ids])
    for (const id of ids) if (!runs.some((run) => run.id === id) && !over.has(id)) ids.delete(id) // its VM was deleted
    for (const run of runs) {
      if (!ids.has(run.id) || over.has(run.id) || !isOver(run)) continue
      over.set(run.id, run)
      if (isShown) showRun(run)
    }
    if (over.size < ids.size) await pause(LOOK_EVERY_MS)
  }
  return [...over.values()]
}

function showRun(run: RecoveryRun): void {
  const took = secondsOf(run)
  const label = run.status === 'COMPLETED' ? `${run.vm_name} is on ${run.host_name}${run.address ? ` (${run.address})` : ''}` : run.vm_name
  showLine(run.status === 'COMPLETED' ? '✓' : '✗', label, run.status === 'COMPLETED' ? `${took?.toFixed(1)} s` : (run.error ?? run.status))
}

interface Circumstances {
  answers: boolean
  /** The plan is that of `--destroyed`. */
  isDestroyed: boolean
  /** `--destroyed` was given. */
  isAsked: boolean
}

function showPlan(host: HostRow, plan: RecoveryPlan, { answers, isDestroyed, isAsked }: Circumstances): Result {
  const rows = plan.vms.map(({ backup, ...vm }) => ({
    ...vm,
    backup: backup && { ...backup, size_bytes: Number(backup.size_bytes), takenAt: backup.takenAt.toISOString() },
  }))
  const shown = table(
    plan.vms.map(({ id, name, status, outcome, backup, host: to, addressBefore, addressAfter, problem }) => ({
      id,
      name,
      status,
      outcome,
      backup: backup && backup.takenAt.toISOString(),
      age: backup && formatAge(backup.ageMs),
      size: backup && `${(Number(backup.size_bytes) / 2 ** 30).toFixed(1)} GiB`,
      to,
      address: addressAfter === addressBefore ? addressBefore : (addressAfter && `${addressBefore} -> ${addressAfter}`) || addressBefore,
      note: problem,
    })),
    ['id', 'name', 'status', 'outcome', 'backup', 'age', 'size', 'to', 'address', 'note'],
    `Host ${host.name} has no VMs`,
  )
  const count = (outcome: string): number => plan.vms.filter((vm) => vm.outcome === outcome).length
  const lines = [
    shown.text,
    ...(isDestroyed
      ? [
          `${counted(count('RESTARTED'), 'VM')} would start with their disks, ${count('RESTORED')} would be restored, ${count('WAITS')} wait, ${count('LOST')} are lost. Ages are of when the host was last seen.`,
          `Also on its disks, and lost: ${counted(plan.snapshots, 'snapshot')}, ${counted(plan.backups, 'backup')}, volumes: ${plan.volumes.join(', ') || 'none'}.`,
        ]
      : [
          `${counted(count('RESTARTED'), 'VM')} would start elsewhere, ${count('WAITS')} wait, ${count('STAYS')} go on when ${host.name} returns. If it never does: npx berthd host recover ${host.name} --destroyed --dry-run`,
        ]),
    ...(isDestroyed && !isAsked && host.lost_at === null
      ? [
          `That is with --destroyed. Without it nothing is lost: VMs with disks on ${host.name} go on when it returns, the others start elsewhere once it is fenced.`,
        ]
      : []),
    ...(answers ? [`Host ${host.name} answers: nothing is recovered while it does. Switch it off for good first.`] : []),
  ]
  return { data: { host: host.name, answers, ...plan, vms: rows }, text: lines.join('\n') }
}

function reportStarted(host: HostRow, started: Started[], runs: RecoveryRun[]): Result {
  const ids = new Set(runs.map(({ vm_id }) => vm_id))
  const waiting = started.flatMap((each) => (each.outcome === 'STARTED' || ids.has(each.vmId) ? [] : [each]))
  const [done, failed] = [runs.filter(({ status }) => status === 'COMPLETED'), runs.filter(({ status }) => status !== 'COMPLETED')]
  if (failed.length + waiting.length > 0) process.exitCode = 1
  const lines = [
    ...waiting.map(({ name, vmId, reason }) => `${name} (${vmId}) waits: ${reason}`),
    `${done.length === 1 ? '1 VM is on another host' : `${done.length} VMs are on other hosts`}, ${failed.length} failed, ${waiting.length} wait. A worker goes on with what waits for room, and tries again what failed. ${host.name} is cleaned when it returns.`,
  ]
  const data = {
    host: host.name,
    started: done.map((run) => ({
      vmId: run.vm_id,
      name: run.vm_name,
      host: run.host_name,
      address: run.address,
      seconds: secondsOf(run),
    })),
    failed: failed.map(({ vm_id, vm_name, error }) => ({ vmId: vm_id, name: vm_name, error })),
    waiting: waiting.map(({ vmId, name, reason }) => ({ vmId, name, reason })),
  }
  return { data, text: lines.join('\n') }
}

interface Outcome {
  started: Started[]
  runs: RecoveryRun[]
  lost: Lost
  isForgotten: boolean
  isSettled: boolean
  certificates: string | null
}

/** VMs on replicated storage start elsewhere only when nothing of the host can write to their disks. */
function nextStep(host: HostRow, waiting: Started[], isSettled: boolean): string {
  const again = `npx berthd host recover ${host.name} --destroyed`
  if (waiting.some((each) => each.outcome === 'WAITS' && each.reason.includes(`host fence ${host.name}`)))
    return `Fence it first: npx berthd host fence ${host.name}. Then run this command again: ${again}.`
  if (!isSettled) return `Actions that were under way on it have not ended: is a worker running? Then run this command again: ${again}.`
  return `Run this command again when what they wait for is there: ${again}.`
}

function report(host: HostRow, { started, runs, lost, isForgotten, isSettled: settled, certificates }: Outcome): Result {
  const restored = runs.filter(({ status }) => status === 'COMPLETED')
  const failed = runs.filter(({ status }) => status !== 'COMPLETED')
  const rest = started.flatMap((each) => (each.outcome === 'STARTED' ? [] : [each]))
  const waiting = rest.filter(({ outcome }) => outcome === 'WAITS')
  const isDone = failed.length + waiting.length + lost.busyVolumes.length === 0
  if (!isDone) process.exitCode = 1
  const lines = [
    ...rest.map(({ name, vmId, outcome, reason }) => `${name} (${vmId}) ${outcome === 'LOST' ? 'is lost' : 'waits'}: ${reason}`),
    ...lost.volumes.map((name) => `The volume ${name} is lost: it was on local storage`),
    ...lost.busyVolumes.map((name) => `The volume ${name} is lost too, but an action of it has to end first`),
    `${restored.length === 1 ? '1 VM is' : `${restored.length} VMs are`} restored, ${failed.length} failed, ${waiting.length} wait, ${rest.length - waiting.length} are lost. Lost with the disks: ${counted(lost.backups, 'backup')}, ${counted(lost.volumes.length, 'volume')}, and all snapshots. Unused days of what is lost were refunded.`,
    isForgotten
      ? `Host ${host.name} is removed.`
      : `Host ${host.name} is kept until the rest is recovered or deleted, and nothing is sent to it. ${nextStep(host, waiting, settled)} What waits: npx berthd host recoveries`,
    ...(certificates === null ? [] : [certificates]),
  ]
  const data = {
    host: host.name,
    removed: isForgotten,
    restored: restored.map((run) => ({
      vmId: run.vm_id,
      name: run.vm_name,
      host: run.host_name,
      address: run.address,
      seconds: secondsOf(run),
      reason: run.recovery,
    })),
    failed: failed.map(({ vm_id, vm_name, error }) => ({ vmId: vm_id, name: vm_name, error })),
    waiting: waiting.map(({ vmId, name, reason }) => ({ vmId, name, reason })),
    lost: rest.filter(({ outcome }) => outcome === 'LOST').map(({ vmId, name, reason }) => ({ vmId, name, reason })),
    volumes: lost.volumes,
    backups: lost.backups,
    certificates,
  }
  return { data, text: lines.join('\n') }
}
