// `berthd host drain`: workers do the work; this command starts it, and watches. Interrupted, it goes on; run again with --status.
import type { Deps } from '../../features/deps.ts'
import {
  cancelDrain,
  findDrainStatus,
  MAX_CONCURRENCY,
  previewDrain,
  startDrain,
  type DrainPreview,
  type DrainStatus,
} from '../../features/fleet/service.ts'
import { getHost, type HostRow } from '../../features/hosts/service.ts'
import { formatAge } from '../../features/recovery/service.ts'
import { sleep } from '../../kernel/clock.ts'
import { isJson, withCore, type Admin, type OutputOptions } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { print, showLine, table, type Result } from '../output.ts'
import { counted } from '../../kernel/counted.ts'

export interface DrainOptions extends OutputOptions {
  dryRun?: boolean
  stopOthers?: boolean
  partial?: boolean
  concurrency: string
  wait: boolean
  status?: boolean
  cancel?: boolean
}

const LOOK_EVERY_MS = 1_000

export const drain = (admin: Admin, options: DrainOptions, name: string): Promise<Result> =>
  withCore(admin, async (deps) => {
    const concurrency = Number(options.concurrency)
    if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY))
      throw new UsageError(`--concurrency is a whole number from 1 to ${MAX_CONCURRENCY}`)
    if ([options.dryRun, options.status, options.cancel].filter(Boolean).length > 1)
      throw new UsageError('--dry-run, --status and --cancel exclude each other')
    const host = await getHost(deps.db, name)
    if (options.cancel) {
      const status = await deps.db.tx((tx) => cancelDrain(tx, deps, host))
      return report(await getHost(deps.db, name), status, { isCancel: true })
    }
    if (options.status) return report(host, await findDrainStatus(deps.db, host))
    const preview = await previewDrain(deps, host, options.stopOthers)
    if (options.dryRun) return showPlan(host, preview)
    const isRefused = !options.partial && preview.stays.some(({ isTemporary }) => !isTemporary) // with the same reasons
    if (!isJson(options) && !isRefused) print(showPlan(host, preview, true).text)
    const order = { concurrency, stopsOthers: options.stopOthers ?? false, isPartial: options.partial ?? false }
    await deps.db.tx((tx) => startDrain(tx, deps, host, order))
    const status = options.wait ? await watch(deps, host, !isJson(options)) : await findDrainStatus(deps.db, host)
    return report(await getHost(deps.db, name), status)
  })

async function watch({ db }: Deps, host: HostRow, isShown: boolean): Promise<DrainStatus> {
  const shown = new Set<string>()
  for (;;) {
    const status = (await findDrainStatus(db, host, false))!
    for (const { vmId, name, to, seconds } of status.moved) {
      if (shown.has(vmId)) continue
      shown.add(vmId)
      if (isShown) showLine('✓', `${name} is on ${to} (${shown.size} of ${status.vms})`, seconds === null ? '' : `${seconds.toFixed(1)} s`)
    }
    if (status.status !== 'RUNNING') return status
    await sleep(LOOK_EVERY_MS)
  }
}

const duration = (seconds: number): string => formatAge(1000 * Math.max(1, Math.round(seconds)))

function showPlan(host: HostRow, preview: DrainPreview, isCarriedOut = false): Result {
  const { moves, stays } = preview
  const rows = [
    ...moves.map((move) => ({
      id: move.vmId,
      name: move.name,
      to: move.to,
      size: gib(move.bytes),
      takes: duration(move.seconds),
      note: move.note,
    })),
    ...stays.map((stay) => ({
      id: stay.vmId,
      name: stay.name,
      to: null,
      size: null,
      takes: null,
      note: `${stay.isTemporary ? 'Waits' : 'Cannot move'}: ${stay.reason}`,
    })),
  ]
  const stuck = stays.filter(({ isTemporary }) => !isTemporary).length
  const time =
    moves.length > 0
      ? `All together takes about ${duration(preview.seconds)}, by ${preview.factor === 1 ? '5 s each and 100 MiB/s of memory and disk' : 'what earlier migrations took'}.`
      : stuck === stays.length
        ? isCarriedOut
          ? `There is nothing to move: ${host.name} only goes into maintenance.`
          : `There is nothing to move. To have it take no new VMs: npx berthd host set ${host.name} --maintenance on`
        : 'A drain moves nothing now, and goes on when they no longer wait.'
  const lines = [
    table(rows, ['id', 'name', 'to', 'size', 'takes', 'note'], `Host ${host.name} has no VMs`).text,
    ...(rows.length > 0
      ? [`${counted(moves.length, 'VM')} can move, ${stays.length - stuck} wait for something, ${stuck} cannot. ${time}`]
      : []),
    ...(preview.backups > 0
      ? [`${preview.backups === 1 ? '1 backup of a VM stays' : `${preview.backups} backups of VMs stay`} on ${host.name}.`]
      : []),
  ]
  return { data: { host: host.name, ...preview }, text: lines.join('\n') }
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

const ENDINGS: Record<DrainStatus['status'], string> = {
  RUNNING: 'is being drained',
  COMPLETED: 'is drained',
  INCOMPLETE: 'is drained as far as possible',
  CANCELLED: 'is no longer drained',
}

function report(host: HostRow, status: DrainStatus | undefined, { isCancel = false } = {}): Result {
  if (!status) return { data: null, text: `Host ${host.name} was never drained` }
  const { moved, moving, remaining } = status
  if (status.status !== 'RUNNING' && remaining.length > 0 && !isCancel) process.exitCode = 1
  const lines = [
    ...moving.map(({ name, vmId, to }) => `${name} (${vmId}) is on its way to ${to}`),
    ...remaining.map(({ name, vmId, reason }) => `${name} (${vmId}) ${status.status === 'RUNNING' ? 'waits' : 'was not moved'}: ${reason}`),
    `Host ${host.name} ${ENDINGS[status.status]}${status.endedAt ? ` (${status.endedAt})` : ''}: ${moved.length} of ${counted(status.vms, 'VM')} moved, ${moving.length} on their way, ${remaining.length} not moved.`,
    ...(status.status === 'RUNNING'
      ? [`How far it is: npx berthd host drain ${host.name} --status`]
      : host.maintenance
        ? [`It stays in maintenance: npx berthd host set ${host.name} --maintenance off ends that.`]
        : ['It is in maintenance no longer, and takes VMs again.']),
  ]
  return { data: { host: host.name, ...status }, text: lines.join('\n') }
}
