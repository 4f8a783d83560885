import { subtractDuration } from '../../kernel/clock.ts'
import { catalogNumbers } from '../catalog/service.ts'
import { reconciler } from '../deps.ts'
import * as sql from './sql.ts'

const AT_ONCE = 5_000
/** Where the catalog, which sets it, is older than this setting. */
const KEEP_DAYS = 180n

/** During an upgrade processes of the version before give addresses without recording it: what is missing is recorded as of now. */
export const keepAddressHistory = reconciler('address-history.upkeep', '10m', async ({ db, clock, log }, stopping) => {
  for (const { vm_id, address_id } of await sql.findUnrecorded(db)) {
    if (stopping?.aborted) return
    try {
      await db.tx((tx) => (address_id === null ? sql.recordOfVm(tx, clock.now(), vm_id) : sql.recordFloating(tx, clock.now(), address_id)))
    } catch (err) {
      log.error({ err, vmId: vm_id }, 'recording the addresses of a VM failed; others are recorded')
    }
  }
  const days = (await catalogNumbers(db)).find('address_history.keep_days') ?? KEEP_DAYS
  const moment = subtractDuration(clock.now(), `${days}d`)
  while (!stopping?.aborted && (await sql.deleteBefore(db, moment, AT_ONCE)) === AT_ONCE);
})
