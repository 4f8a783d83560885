import { useQuery } from '@tanstack/react-query'
import { operatorVmsQuery, type AccountSuspended } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { operatorWords } from '../../messages/operator.ts'
import { vmsWords } from '../../messages/vms.ts'

const w = operatorWords.accounts

/** The VMs that did not follow their account when it was suspended, or lifted. */
export function Untouched({ outcome, onClose }: { outcome: AccountSuspended; onClose: () => void }) {
  const vms = useQuery(operatorVmsQuery({ account: outcome.account.id, limit: 100 })).data?.items ?? []
  const columns: Column<AccountSuspended['untouched'][number]>[] = [
    { head: vmsWords.columns.name, cell: ({ vmId }) => vms.find(({ id }) => id === vmId)?.name ?? vmId },
    { head: w.why, cell: ({ why }) => why },
  ]
  return (
    <Dialog title={w.untouchedTitle} onClose={onClose}>
      <p>{outcome.account.suspendedAt ? w.followLater : w.liftAgain}</p>
      <Table caption={w.untouchedTitle} columns={columns} rows={outcome.untouched} rowKey={({ vmId }) => vmId} />
    </Dialog>
  )
}
