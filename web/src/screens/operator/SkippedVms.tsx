import { useQuery } from '@tanstack/react-query'
import { operatorVmsQuery, type SuspensionResult } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { operatorMessages, vmsMessages } from '../../words/words.ts'

const w = operatorMessages.accounts

/** VMs that were busy while their account was suspended or unsuspended. */
export function SkippedVms({ outcome, onClose }: { outcome: SuspensionResult; onClose: () => void }) {
  const vms = useQuery(operatorVmsQuery({ account: outcome.account.id, limit: 100 })).data?.items ?? []
  const columns: Column<SuspensionResult['skipped'][number]>[] = [
    { head: vmsMessages.columns.name, cell: ({ vmId }) => vms.find(({ id }) => id === vmId)?.name ?? vmId },
    { head: w.skipReason, cell: ({ reason }) => reason },
  ]
  return (
    <Dialog title={w.skippedTitle} onClose={onClose}>
      <p>{outcome.account.suspendedAt ? w.skippedSuspend : w.skippedUnsuspend}</p>
      <Table caption={w.skippedTitle} columns={columns} rows={outcome.skipped} rowKey={({ vmId }) => vmId} />
    </Dialog>
  )
}
