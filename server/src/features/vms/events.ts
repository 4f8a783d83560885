import type { Tx } from '../../kernel/db.ts'
import { recordEvent } from '../events/service.ts'
import { getVmRow } from './machine.ts'
import { nextSequence } from './sql.ts'
import { toVmListItem } from './view.ts'

/** Call it after the change it tells of: the event shows the VM as it is now. `about` is what else took part. */
export async function recordVmEvent(
  tx: Tx,
  now: Date,
  vmId: string,
  type: string,
  detail: { actionId?: string; reason?: string } = {},
  about: object = {},
): Promise<void> {
  const sequence = await nextSequence(tx, vmId)
  const vm = await getVmRow(tx, vmId)
  const data = { ...about, vm: toVmListItem(vm), actionId: detail.actionId ?? null, reason: detail.reason ?? null, sequence }
  await recordEvent(tx, now, { accountId: vm.account_id, type, subjectId: vmId, data })
}
