// Prunes the delivery log after 30 days, and that of deleted subscriptions after one day.
import { parseDurationMs, type Clock } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import * as queue from './delivery-queue.sql.ts'
import { KEEP_LOG } from './schedule.ts'

const ago = (clock: Clock, duration: string): Date => new Date(clock.now().getTime() - parseDurationMs(duration))

export const pruneWebhooks = reconciler('webhooks.prune', '10m', async ({ db, clock }) => {
  while ((await queue.deleteOld(db, ago(clock, KEEP_LOG), ago(clock, '1d'))) > 0);
  await queue.deleteEmptied(db, ago(clock, '1d'))
})
