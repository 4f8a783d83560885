import type { Tx } from '../../kernel/database/db.ts'
import type { EventDeps } from '../deps.ts'
import type { EventType } from '../events/schema.ts'
import { recordEvent } from '../events/service.ts'
import type { Image, imageEvents } from './schema.ts'
import { imageById } from './sql.ts'
import { toImage } from './view.ts'

interface EventDetail {
  actionId?: string | null
  reason?: string | null
}

/** Call it after the change: the event shows the image as it is now. */
export async function recordImageEvent(
  tx: Tx,
  deps: EventDeps,
  id: string,
  type: keyof typeof imageEvents & EventType,
  { actionId = null, reason = null }: EventDetail = {},
): Promise<Image> {
  const row = await imageById(tx, id)
  if (!row) throw new Error(`BUG: image ${id} is gone while an event is recorded`)
  const image = toImage(row)
  await recordEvent(tx, deps, { accountId: row.account_id, type, subjectId: id, data: { image, actionId, reason } })
  return image
}
