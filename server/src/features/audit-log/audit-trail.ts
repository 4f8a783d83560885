// Writes API calls to the audit log. A change and its entry commit in one transaction. Denied requests are written asynchronously in
// batches. Only the first of an account, and of its projects together, in an hour get an entry each, the rest are counted, so that no client
// can fill the disk: changes by actor and action, the first of which have an entry each even then, so that a flood of one hides no other; denied requests all together.
import type { Audit, AuditRecord } from '../../http/api/audit.ts'
import { shareOf } from '../../http/api/principal.ts'
import { createBatchWriter } from '../../kernel/batch-writer.ts'
import { addDuration, type Clock } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/crypto.ts'
import type { Db } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { rateLimitedWarn, type Log } from '../../kernel/log.ts'
import { markCaller } from './operator.ts'
import * as sql from './sql.ts'

export const REFUSALS_PER_HOUR = 100
/** At about 400 bytes each an account fills at most 20 MB a day; without a limit, 350 MB a day for each of its tokens. */
export const CHANGES_PER_HOUR = 2_000
/** Of an actor and action: they have entries beyond that limit. */
export const FIRST_OF_KIND = 50
/** What was changed is kept of the first of an hour: at most 8 kB each, and seldom more than 200 bytes. */
const DETAILED_PER_HOUR = 200
/** An account can make new actors, so their first changes have a limit too. */
export const MOST_PER_HOUR = 10_000

interface Hour {
  endsAt: Date
  changes: number
  detailed: number
  /** Changes by actor and action. */
  kinds: Map<string, number>
  written: number
  /** Denied requests beyond the limit, by account. */
  counted: Map<string, number>
}

export interface AuditTrail extends Audit {
  /** Writes the counts of denied requests for hours that have ended. */
  sweep(): Promise<void>
  /** Flushes all buffered entries. */
  close(): Promise<void>
}

export function openAuditTrail({ db, clock, log }: { db: Db; clock: Clock; log: Log }): AuditTrail {
  /** By share. */
  const hours = new Map<string, Hour>()
  const pendingWrites = new Set<Promise<void>>()
  const batched = createBatchWriter<sql.AuditRow>((rows) => sql.insertAll(db, rows), {
    tries: 3,
    pauseMs: 1_000,
    onError: rateLimitedWarn(log, 'writing denied requests to audit log failed'),
  })
  const write = (row: sql.AuditRow): void => {
    const writing = batched(row).finally(() => pendingWrites.delete(writing))
    pendingWrites.add(writing)
  }

  const hourOf = (call: AuditRecord, now: Date): Hour => {
    const share = shareOf(call)
    const known = hours.get(share)
    if (known && known.endsAt > now) return known
    if (known) end(share, known, now)
    const hour = {
      endsAt: addDuration(now, '1h'),
      changes: 0,
      detailed: 0,
      kinds: new Map<string, number>(),
      written: 0,
      counted: new Map<string, number>(),
    }
    hours.set(share, hour)
    return hour
  }
  const end = (share: string, { counted }: Hour, now: Date): void => {
    hours.delete(share)
    for (const [accountId, count] of counted) write(summary(accountId, count, now))
  }
  const endHours = (now: Date, isOver: (hour: Hour) => boolean): void => {
    for (const [share, hour] of hours) if (isOver(hour)) end(share, hour, now)
  }
  const written = async (): Promise<void> => void (await Promise.all(pendingWrites))

  return {
    recordSuccess(tx, call) {
      const now = clock.now()
      markCaller(tx, call.accountId)
      const hour = hourOf(call, now)
      const hasEntry = takeEntry(hour, call)
      const entry = call.changes.length > 0 && hour.detailed++ >= DETAILED_PER_HOUR ? { ...call, changes: [] } : call
      tx.beforeCommit(hasEntry ? sql.insertion(toRow(entry, now)) : sql.countedInsertion(changeCount(call, now)))
    },
    recordDenied(call) {
      const now = clock.now()
      const hour = hourOf(call, now)
      if (hour.written === REFUSALS_PER_HOUR) return void hour.counted.set(call.accountId, (hour.counted.get(call.accountId) ?? 0) + 1)
      hour.written++
      write(toRow(call, now))
    },
    async sweep() {
      const now = clock.now()
      endHours(now, ({ endsAt }) => endsAt <= now)
      await written()
    },
    async close() {
      endHours(clock.now(), () => true)
      await written()
    },
  }
}

/** Whether the change gets an entry of its own. */
function takeEntry(hour: Hour, { actorType, actorId, action }: AuditRecord): boolean {
  const kind = [actorType, actorId, action].join('\n')
  const before = hour.kinds.get(kind) ?? 0
  if (hour.changes >= (before < FIRST_OF_KIND ? MOST_PER_HOUR : CHANGES_PER_HOUR)) return false
  hour.changes++
  hour.kinds.set(kind, before + 1)
  return true
}

const toRow = (
  { accountId, payerId: _, actorType, actorId, actorName, person, requestId, resourceIds, resourceName, changes, ...call }: AuditRecord,
  now: Date,
): sql.AuditRow => ({
  ...call,
  account_id: accountId,
  created_at: now,
  id: newId(),
  actor_type: actorType,
  actor_id: actorId,
  actor_name: actorName,
  person_id: person?.id ?? null,
  person_name: person?.name ?? null,
  resource_ids: resourceIds,
  request_id: requestId,
  resource_name: resourceName,
  changes: changes.length === 0 ? null : changes,
  count: 1,
})

/** One row per hour, actor and action. Its id is the same in every process. */
function changeCount(call: AuditRecord, now: Date): sql.AuditRow {
  const hour = new Date(now)
  hour.setUTCMinutes(0, 0, 0)
  const id = `c${sha256([hour.toISOString(), call.actorType, call.actorId, call.action].join('\n')).toString('hex').slice(0, 24)}`
  return { ...toRow(call, hour), id, ip: null, resource_ids: [], resource: null, resource_name: null, changes: null, request_id: null }
}

const summary = (accountId: string, count: number, now: Date): sql.AuditRow => ({
  account_id: accountId,
  created_at: now,
  id: newId(),
  actor_type: 'system',
  actor_id: null,
  actor_name: 'system',
  person_id: null,
  person_name: null,
  ip: null,
  action: sql.REFUSALS,
  method: null,
  route: null,
  resource_ids: [],
  status: null,
  code: null,
  request_id: null,
  resource: null,
  resource_name: null,
  changes: null,
  count,
})
