import { isTimestamp, pageOf, wrongCursor, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Principal } from '../../http/api/principal.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { readPeriod } from '../wallet/date-range.ts'
import type { AuditEntry, AuditFilter } from './schema.ts'
import * as sql from './sql.ts'
import { toEntry } from './view.ts'

/** Pagination reaches this far back; older entries are found by date range. */
const MAX_COUNTED = 10_000

export async function listAuditLog(
  db: Queries,
  { accountId, scopes }: Pick<Principal, 'accountId' | 'scopes'>,
  { action, tokenId, personId, ...dates }: AuditFilter,
  page: PageRequest,
): Promise<Paged<AuditEntry>> {
  const filter = { action: action ?? null, tokenId: tokenId ?? null, personId: personId ?? null, ...readPeriod(dates) }
  if (page.after && !isTimestamp(page.after[0]!)) throw wrongCursor()
  const entries = await pageOf(
    page,
    () => sql.countUpTo(db, accountId, filter, MAX_COUNTED),
    async (range) => (await sql.list(db, accountId, filter, range)).map((row) => toEntry(row, scopes)),
  )
  return { ...entries, keyOf: ({ createdAt, id }) => [createdAt, id] }
}

export { fieldChanges, recordByOperator } from './operator.ts'
