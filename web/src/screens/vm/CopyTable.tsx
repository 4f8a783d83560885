import type { Backup, Snapshot, Vm } from '@berth/sdk'
import { formatBytes, formatConstant } from '../../ui/format.ts'
import { LabelTags } from '../../ui/Labels.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status, StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { backupTypes, commonMessages, imageMessages, labelMessages, vmMessages } from '../../words/words.ts'
import { disabledReason } from './ActionButton.tsx'

const w = vmMessages.copies

export type CopyKind = 'snapshots' | 'backups'
export type Copy = (Snapshot | Backup) & {
  type?: Backup['type']
  expiresAt?: string | null
  description?: string
  warning?: string | null
  consistency?: Backup['consistency']
} & Partial<Pick<Backup, 'verification' | 'verifiedAt' | 'verificationError' | 'restoreSeconds' | 'bootSeconds' | 'hasScreenshot'>>

interface Props {
  vm: Vm
  kind: CopyKind
  copies: Copy[]
  none: string
  onRestore: (copy: Copy) => void
  /** Only of backups. */
  onNewVm?: (copy: Copy) => void
  /** Only of backups. */
  onScreenshot?: (copy: Copy) => void
  onImage: (copy: Copy) => void
  onLabels: (copy: Copy) => void
  onDelete: (copy: Copy) => void
}

export function CopyTable({ vm, kind, copies, none, onRestore, onNewVm, onScreenshot, onImage, onLabels, onDelete }: Props) {
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
    ...(kind === 'backups'
      ? [{ head: w.type, cell: (copy: Copy) => backupTypes[copy.type ?? ''] ?? formatConstant(copy.type ?? '') }]
      : []),
    { head: commonMessages.status, cell: (copy) => <StatusBadge status={copy.status} working /> },
    { head: w.size, cell: (copy) => formatBytes(copy.size), right: true },
    ...(kind === 'backups' ? [{ head: w.proof.column, cell: (copy: Copy) => <Proof copy={copy} /> }] : []),
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
            ...(onNewVm ? [{ label: w.newVm, onClick: () => onNewVm(copy), disabled: copy.status !== 'AVAILABLE' }] : []),
            ...(onScreenshot && copy.hasScreenshot ? [{ label: w.proof.show, onClick: () => onScreenshot(copy) }] : []),
            {
              label: imageMessages.make,
              onClick: () => onImage(copy),
              disabled: copy.status !== 'AVAILABLE' || vm.currentAction !== null,
            },
            { label: labelMessages.edit, onClick: () => onLabels(copy), disabled: copy.status === 'DELETING' },
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
    <LabelTags labels={copy.labels} />
    {copy.consistency === 'CRASH' && (
      <div className="muted" data-wrap>
        <Status tone="held">{w.crashConsistent}</Status>
        <div>{w.crashConsistentHint}</div>
      </div>
    )}
    {copy.warning && (
      <div className="muted" data-wrap>
        <Status tone="held">{w.sameHost}</Status>
        <div>{copy.warning}</div>
      </div>
    )}
  </div>
)

const PROOFS = { BOOTED: ['good', w.proof.booted], RUNNING: ['held', w.proof.running], FAILED: ['bad', w.proof.failed] } as const

/** What a restore on trial has shown. */
function Proof({ copy }: { copy: Copy }) {
  const { verification, verifiedAt, verificationError, restoreSeconds = null, bootSeconds = null } = copy
  if (!verification) return <span className="muted">{w.proof.never}</span>
  const [tone, label] = PROOFS[verification]
  const boot = bootSeconds === null ? null : w.proof.seconds(bootSeconds)
  return (
    <div data-wrap>
      <Status tone={tone}>{label}</Status>
      {verifiedAt && (
        <div>
          <Time at={verifiedAt} />
        </div>
      )}
      {restoreSeconds !== null && <div className="muted">{w.proof.times(w.proof.seconds(restoreSeconds), boot)}</div>}
      {verification === 'RUNNING' && <div className="muted">{w.proof.runningHint}</div>}
      {verificationError && <div className="muted">{verificationError}</div>}
    </div>
  )
}
