import type { Deps } from '../deps.ts'
import { requireVm } from '../vms/service.ts'
import type { VmMetrics } from './schema.ts'
import * as sql from './sql.ts'
import { toMetrics } from './view.ts'
import { readWindow, type WindowQuery } from './time-range.ts'

export async function getMetrics(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  accountId: string,
  vmId: string,
  query: WindowQuery,
): Promise<VmMetrics> {
  const window = readWindow(query, clock.now())
  const vm = await requireVm(db, accountId, vmId)
  return toMetrics(window, await sql.readPoints(db, vm.id, window))
}
