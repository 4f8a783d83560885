// Where the VMs of a host are in its rows. A VM that left, even for good, keeps its slot until its minutes have expired.
import type { Driver } from '../../hypervisor/driver.ts'
import type { Db } from '../../kernel/database/db.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import * as sql from './sql.ts'

/** Slots of the VMs of the last sample, by host, and when they were read. */
const known = new WeakMap<Driver, { at: number; slots: Map<string, number> }>()
/** Much shorter than a slot rests, so that it is nobody else's. */
const KNOWN_FOR_MS = parseDurationMs('1h')

/** Without VMs that are not on this host, such as what is left of one that moved away. */
export async function slotsOf(db: Db, driver: Driver, minute: Date, vmIds: string[]): Promise<ReadonlyMap<string, number>> {
  const last = known.get(driver)
  const isFresh = last !== undefined && Math.abs(minute.getTime() - last.at) < KNOWN_FOR_MS
  const slots = new Map(isFresh ? vmIds.flatMap((id) => (last.slots.has(id) ? [[id, last.slots.get(id)!]] : [])) : [])
  const take = async (ask: typeof sql.findSlots): Promise<void> => {
    const missing = vmIds.filter((id) => !slots.has(id))
    if (missing.length > 0) for (const { vm_id, slot } of await ask(db, driver.hostId, minute, missing)) slots.set(vm_id, slot)
  }
  await take(sql.findSlots)
  await take(sql.takeSlots)
  known.set(driver, { at: isFresh ? last.at : minute.getTime(), slots })
  return slots
}
