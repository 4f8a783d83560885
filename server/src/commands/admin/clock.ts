// Advances a test clock from one due time to the next, so that renewals, suspensions and invoices happen in order.
import type { Command } from 'commander'
import type { Deps } from '../../features/deps.ts'
import { manualClock, sleep, stopwatch } from '../../kernel/clock.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import { advanceClock, readClock } from '../../kernel/database/test-clock.ts'
import { adminCommand, silentLog, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import type { Result } from '../output.ts'

export function clockCommands(program: Command): void {
  const clock = program.command('clock').description('the test clock of a database created with BERTH_TEST_CLOCK=true')
  adminCommand(clock.command('show').description('show the current time of the test clock'), 'clock show', async ({ now }) =>
    timeResult(now),
  )
  adminCommand(
    clock
      .command('advance')
      .description('advance the test clock, with every renewal, suspension and invoice on its day')
      .requiredOption('--to <date>', 'such as 2027-03-01 or 2027-03-01T12:00:00Z'),
    'clock advance --to 2027-03-01',
    advance,
  )
}

const timeResult = (now: Date): Result => ({ data: { now: now.toISOString() }, text: `It is ${now.toISOString()}` })

const MAX_YEARS_AHEAD = 10

async function advance({ db, config, now }: Admin, { to }: { to: string }): Promise<Result> {
  if (!config.testClock) throw new Error('This database has no test clock: only one created with BERTH_TEST_CLOCK=true has')
  const target = readTarget(to, now)
  const { openCore } = await import('../../compose.ts')
  const clock = manualClock(now)
  const core = await openCore(config, db.url, await silentLog(), { worker: false, clock })
  try {
    while (clock.now() < target) {
      await waitUntilIdle(db)
      const [next, already] = [await nextDueTime(db, clock.now(), target), await readClock(db, true)]
      clock.set(next > already ? next : already) // the clock may have advanced while actions ran
      await advanceClock(db, clock.now())
      await runTimedReconcilers(core.deps)
    }
    await waitUntilIdle(db)
  } finally {
    await core.close()
  }
  return timeResult(await readClock(db, true))
}

function readTarget(text: string, now: Date): Date {
  const date = new Date(text)
  if (!/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) || Number.isNaN(date.getTime()))
    throw new UsageError(`--to must be a date such as 2027-03-01 or 2027-03-01T12:00:00Z, not "${text}"`)
  if (date <= now) throw new UsageError(`It is ${now.toISOString()} already: the test clock cannot be moved back`)
  if (date.getUTCFullYear() - now.getUTCFullYear() > MAX_YEARS_AHEAD)
    throw new UsageError(`--to must be at most ${MAX_YEARS_AHEAD} years ahead`)
  return date
}

/** The next renewal, end of grace, end of retention or start of a month; at most one day ahead. */
async function nextDueTime(db: Db, now: Date, target: Date): Promise<Date> {
  const { at } = await db.one<{ at: Date }>(sql`
    select least(${target}::timestamptz, ${now}::timestamptz + interval '1 day', (
      select min(at) from vms, lateral (values (next_renewal_at), (past_due_at + interval '24 hours'), (suspended_at + interval '7 days')) due (at)
      where at > ${now}), (
      select min(at) from (values (0), (1)) months (ahead), lateral (
        select (date_trunc('month', ${now}::timestamptz at time zone 'UTC') + ahead * interval '1 month') at time zone 'UTC' + interval '1 hour' as at) month
      where at > ${now})) as at`)
  return at
}

async function runTimedReconcilers(deps: Deps): Promise<void> {
  const { reconcilers } = await import('../../features/index.ts')
  for (const { name, runOnce: pass } of reconcilers) if (TIMED.has(name)) await pass(deps)
}

const TIMED = new Set(['billing.renew', 'billing.low_balance', 'invoices.issue'])

const TIMEOUT_MS = 60_000

/** Waits for open actions: advancing the clock would exceed their deadlines. */
async function waitUntilIdle(db: Db): Promise<void> {
  const elapsed = stopwatch()
  const isBusy = () => db.maybe(sql`select from workflow_runs where status in ('PENDING', 'RUNNING') or compensating limit 1`)
  while (await isBusy()) {
    if (elapsed() > TIMEOUT_MS) throw new Error('Open actions are not being processed: start berthd up or berthd worker, then retry')
    await sleep(50)
  }
}
