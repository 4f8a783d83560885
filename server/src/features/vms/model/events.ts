import type { Tx } from '../../../kernel/database/db.ts'
import type { EventDeps } from '../../deps.ts'
import { recordEvent } from '../../events/service.ts'
import type { Vm } from '../schema.ts'
import { getVmRow } from './machine-spec.ts'
import { getVmDetail } from './read.ts'
import { countEvent, type VmListRow, type VmRow } from './sql.ts'
import { toVm, toVmListItem } from './view.ts'

interface EventDetail {
  actionId?: string
  reason?: string
}

/** Call it after the change: the event shows the VM as it is now. `about` is the other resource involved. */
export async function recordVmEvent(
  tx: Tx,
  deps: EventDeps,
  vmId: string,
  type: string,
  detail: EventDetail = {},
  about: object = {},
): Promise<void> {
  const [, vm] = await Promise.all([countEvent(tx, vmId), getVmRow(tx, vmId)]) // pipelined in order: the row is read under its lock
  await writeEvent(tx, deps, vm, type, detail, about)
}

/** For a write that responds with the VM: one read serves both event and response. */
export async function recordVmEventAndShow(
  tx: Tx,
  deps: EventDeps,
  accountId: string,
  vmId: string,
  type: string,
  detail: EventDetail,
): Promise<Vm> {
  const [, vm] = await Promise.all([countEvent(tx, vmId), getVmDetail(tx, accountId, vmId)])
  await writeEvent(tx, deps, vm, type, detail, {})
  return toVm(vm)
}

type EventVm = VmListRow & Pick<VmRow, 'account_id' | 'event_sequence'>

async function writeEvent(tx: Tx, deps: EventDeps, vm: EventVm, type: string, detail: EventDetail, about: object): Promise<void> {
  const { actionId = null, reason = null } = detail
  const data = { ...about, vm: toVmListItem(vm), actionId, reason, sequence: vm.event_sequence }
  await recordEvent(tx, deps, { accountId: vm.account_id, type, subjectId: vm.id, data })
}
