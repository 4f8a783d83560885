// An import that fails costs nothing, and may have received 64 GiB before, and written as much when it unpacked a small file. So what failed imports of an
// account have received and unpacked in a day is limited.
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { quotaLimit } from '../accounts/service.ts'
import * as sql from './sql.ts'

const PERIOD = '24h'
const GIB = 1024 ** 3

/** `receivedBytes`: and unpacked, by earlier tries of the same import. */
export async function requireImportBudget(db: Queries, now: Date, accountId: string, receivedBytes = 0): Promise<void> {
  const limitGib = await quotaLimit(db, accountId, 'failed_import_gib_per_day')
  const failed = await sql.failedImports(db, accountId, subtractDuration(now, PERIOD))
  const limit = Number(limitGib) * GIB
  let used = failed.reduce((sum, { bytes }) => sum + Number(bytes), receivedBytes)
  if (used < limit) return
  const received = (used / GIB).toFixed(1)
  let until = addDuration(now, PERIOD)
  for (const { bytes, failed_at } of failed) {
    until = addDuration(failed_at, PERIOD)
    used -= Number(bytes)
    if (used < limit) break
  }
  throw new ApiError(
    'quota_exceeded',
    `Quota exceeded: imports that failed have received and unpacked ${received} GiB in 24 hours, and ${limitGib} GiB are allowed. Check URL and checksum, and try again after ${until.toISOString()}, or ask support for more`,
    [],
    Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000)),
  )
}

export const recordFailedImport = (tx: Tx, now: Date, image: sql.ImageRow): Promise<void> =>
  sql.recordFailedImport(tx, now, subtractDuration(now, PERIOD), image)

/** How much is received or unpacked between two notes, so that a worker that dies loses little of it. */
const NOTE_EVERY_BYTES = 256 * 1024 ** 2

/** Notes what is read of an import. Call `end` when it was read, or not read further. */
export function countReceived(db: Queries, imageId: string) {
  let unnoted = 0
  const note = async (): Promise<void> => {
    const more = unnoted
    unnoted = 0
    if (more > 0) await sql.addReceived(db, imageId, more)
  }
  const count = async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      unnoted += chunk.length
      if (unnoted >= NOTE_EVERY_BYTES) await note()
      yield chunk
    }
  }
  return { count, end: note }
}
