import type { Tx } from '../../../kernel/database/db.ts'
import type { EventDeps } from '../../deps.ts'
import { recordEvent } from '../../events/service.ts'
import { getVmRow } from './machine-spec.ts'
import { countEvent, type VmDetails } from './sql.ts'
import { toVmListItem } from './view.ts'

/** Call it after the change it tells of: the event shows the VM as it is now. `about` is what else took part. */
export async function recordVmEvent(
  tx: Tx,
  deps: EventDeps,
  vmId: string,
  type: string,
  detail: { actionId?: string; reason?: string } = {},
  about: object = {},
): Promise<VmDetails> {
  const [, vm] = await Promise.all([countEvent(tx, vmId), getVmRow(tx, vmId)]) // one after the other: the row is read under its lock
  const { actionId = null, reason = null } = detail
  const data = { ...about, vm: toVmListItem(vm), actionId, reason, sequence: vm.event_sequence }
  await recordEvent(tx, deps, { accountId: vm.account_id, type, subjectId: vmId, data })
  return vm
}
