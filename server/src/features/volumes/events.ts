import type { Tx } from '../../kernel/database/db.ts'
import type { EventDeps } from '../deps.ts'
import type { EventType } from '../events/schema.ts'
import { recordEvent } from '../events/service.ts'
import type { Volume, volumeEvents } from './schema.ts'
import { volumeById } from './sql.ts'
import { toVolume } from './view.ts'

interface EventDetail {
  actionId?: string | null
  reason?: string | null
}

/** Call it after the change: the event shows the volume as it is now. */
export async function recordVolumeEvent(
  tx: Tx,
  deps: EventDeps,
  id: string,
  type: keyof typeof volumeEvents & EventType,
  { actionId = null, reason = null }: EventDetail = {},
): Promise<Volume> {
  const row = await volumeById(tx, id)
  if (!row) throw new Error(`BUG: volume ${id} is gone while an event is recorded`)
  const volume = toVolume(row)
  await recordEvent(tx, deps, { accountId: row.account_id, type, subjectId: id, data: { volume, actionId, reason } })
  return volume
}
