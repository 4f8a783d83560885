import type { Tx } from '../../../kernel/database/db.ts'
import type { EventDeps } from '../../deps.ts'
import type { EventPayloads, EventType } from '../../events/schema.ts'
import { recordEvent, type NewEvent } from '../../events/service.ts'
import type { Vm, VmEventData } from '../schema.ts'
import { getVmRow } from './machine-spec.ts'
import { getVmDetail } from './read.ts'
import { countEvent, type VmListRow, type VmRow } from './sql.ts'
import { toVm, toVmListItem } from './view.ts'

interface EventDetail {
  actionId?: string
  reason?: string
}

type VmEventType = { [Type in EventType]: EventPayloads[Type] extends VmEventData ? Type : never }[EventType]

/** What the event shows besides the VM, such as a backup. */
export type EventSubject<Type extends VmEventType> = Omit<EventPayloads[Type], keyof VmEventData>

type SubjectArgument<Type extends VmEventType> = keyof EventSubject<Type> extends never ? [] : [EventSubject<Type>]

/** Call it after the change: the event shows the VM as it is now. */
export async function recordVmEvent<Type extends VmEventType>(
  tx: Tx,
  deps: EventDeps,
  vmId: string,
  type: Type,
  detail: EventDetail = {},
  ...[subject]: SubjectArgument<NoInfer<Type>>
): Promise<void> {
  const [, vm] = await Promise.all([countEvent(tx, vmId), getVmRow(tx, vmId)]) // pipelined in order: the row is read under its lock
  await writeEvent(tx, deps, vm, type, detail, subject)
}

/** For a write that responds with the VM: one read serves both event and response. */
export async function recordVmEventAndShow(
  tx: Tx,
  deps: EventDeps,
  accountId: string,
  vmId: string,
  type: 'vm.provisioning',
  detail: EventDetail,
): Promise<Vm> {
  const [, vm] = await Promise.all([countEvent(tx, vmId), getVmDetail(tx, accountId, vmId)])
  await writeEvent(tx, deps, vm, type, detail)
  return toVm(vm)
}

type EventVm = VmListRow & Pick<VmRow, 'account_id' | 'event_sequence'>

async function writeEvent(
  tx: Tx,
  deps: EventDeps,
  vm: EventVm,
  type: VmEventType,
  { actionId, reason }: EventDetail,
  subject?: object,
): Promise<void> {
  const shown: VmEventData = { vm: toVmListItem(vm), actionId: actionId ?? null, reason: reason ?? null, sequence: vm.event_sequence }
  const event = { accountId: vm.account_id, type, subjectId: vm.id, data: { ...subject, ...shown } }
  await recordEvent(tx, deps, event as NewEvent) // `recordVmEvent` took the subject of this type
}
