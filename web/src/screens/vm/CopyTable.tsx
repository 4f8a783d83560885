import type { Backup, Snapshot, Vm } from '@berth/sdk'
import { formatBytes, formatConstant } from '../../ui/format.ts'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status, StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages } from '../../messages/common.ts'
import { vmMessages } from '../../messages/vm.ts'
import { disabledReason } from './ActionButton.tsx'

const w = vmMessages.copies

export type CopyKind = 'snapshots' | 'backups'
export type Copy = (Snapshot | Backup) & {
  type?: Backup['type']
  expiresAt?: string | null
  description?: string
  warning?: string | null
  consistency?: Backup['consistency']
}

interface Props {
  vm: Vm
  kind: CopyKind
  copies: Copy[]
  none: string
  onRestore: (copy: Copy) => void
  onDelete: (copy: Copy) => void
}

export function CopyTable({ vm, kind, copies, none, onRestore, onDelete }: Props) {
  if (copies.length === 0)
    return (
      <p className="muted" style={{ padding: '18px 20px' }}>
        {none}
      </p>
    )
  const columns: Column<Copy>[] = [
    {
      head: commonMessages.name,
      truncate: ({ name, description }) => [name, description].filter(Boolean).join(': '),
      cell: (copy) => <Named copy={copy} />,
    },
    ...(kind === 'backups' ? [{ head: w.type, cell: (copy: Copy) => formatConstant(copy.type ?? '') }] : []),
    { head: commonMessages.status, cell: (copy) => <StatusBadge status={copy.status} working /> },
    { head: w.size, cell: (copy) => formatBytes(copy.size), right: true },
    { head: commonMessages.created, cell: (copy) => <Time at={copy.createdAt} />, right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (copy) => (
        <RowMenu
          name={copy.name}
          items={[
            {
              label: w.restore,
              onClick: () => onRestore(copy),
              disabled: copy.status !== 'AVAILABLE' || disabledReason(vm, 'restore') !== null,
            },
            { label: w.delete, onClick: () => onDelete(copy), danger: true, disabled: copy.status === 'DELETING' },
          ]}
        />
      ),
    },
  ]
  return <Table caption={w[kind]} columns={columns} rows={copies} rowKey={({ id }) => id} />
}

const Named = ({ copy }: { copy: Copy }) => (
  <div>
    <strong>{copy.name}</strong>
    {copy.description && <div className="muted">{copy.description}</div>}
    {copy.consistency === 'CRASH' && (
      <div className="muted" data-wrap>
        <Status tone="held">{w.crashConsistent}</Status> {w.crashConsistentHint}
      </div>
    )}
    {copy.warning && (
      <div className="muted" data-wrap>
        <Status tone="held">{w.sameHost}</Status> {copy.warning}
      </div>
    )}
  </div>
)
