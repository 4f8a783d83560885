import { Checkbox, Textarea, TextInput } from '@mantine/core'
import type { Backup, Snapshot, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError, isCode } from '../../api/errors.ts'
import { backupsQuery, snapshotsQuery } from '../../queries/vms.ts'
import { Confirm, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { vmWords } from '../../messages/vm.ts'
import { CopyTable } from './CopyTable.tsx'
import { Verb } from './ActionButton.tsx'

const w = vmWords.copies
const changes = ['snapshots', 'backups', 'vm', 'actions']

export type CopyKind = 'snapshots' | 'backups'
export type Copy = (Snapshot | Backup) & { type?: Backup['type']; expiresAt?: string | null; description?: string }
type Open = { what: 'make'; kind: CopyKind } | { what: 'restore' | 'delete'; kind: CopyKind; copy: Copy } | null

export function Copies({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const snapshots = useQuery(snapshotsQuery(vm.id))
  const backups = useQuery(backupsQuery(vm.id))
  const tableOf = (kind: CopyKind, copies: Copy[], none: string) => (
    <CopyTable
      vm={vm}
      kind={kind}
      copies={copies}
      none={none}
      onRestore={(copy) => setOpen({ what: 'restore', kind, copy })}
      onDelete={(copy) => setOpen({ what: 'delete', kind, copy })}
    />
  )
  return (
    <Stack>
      <Card
        flush
        title={w.snapshots}
        about={w.snapshotsAbout}
        actions={
          <Verb vm={vm} verb="snapshot" size="xs" onClick={() => setOpen({ what: 'make', kind: 'snapshots' })}>
            {w.takeSnapshot}
          </Verb>
        }
      >
        <Loaded of={snapshots} lines={2}>
          {({ items }) => tableOf('snapshots', items, w.noSnapshots)}
        </Loaded>
      </Card>
      <Card
        flush
        title={w.backups}
        about={w.backupsAbout}
        actions={
          <Verb vm={vm} verb="backup" size="xs" variant="default" onClick={() => setOpen({ what: 'make', kind: 'backups' })}>
            {w.makeBackup}
          </Verb>
        }
      >
        <Loaded of={backups} lines={2}>
          {({ items }) => tableOf('backups', items, w.noBackups)}
        </Loaded>
      </Card>
      {open?.what === 'make' && <Make vmId={vm.id} kind={open.kind} onClose={close} />}
      {open?.what === 'restore' && <Restore vmId={vm.id} kind={open.kind} copy={open.copy} onClose={close} />}
      {open?.what === 'delete' && <Delete vmId={vm.id} kind={open.kind} copy={open.copy} onClose={close} />}
    </Stack>
  )
}

function Make({ vmId, kind, onClose }: { vmId: string; kind: CopyKind; onClose: () => void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const isSnapshot = kind === 'snapshots'
  const make = useWrite<void, unknown>(
    () => (isSnapshot ? berth.snapshots.create(vmId, { name, ...(description && { description }) }) : berth.backups.create(vmId, { name })),
    { inForm: true, changes, says: isSnapshot ? w.taking : w.making, after: onClose },
  )
  const title = isSnapshot ? w.takeSnapshot : w.makeBackup
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => make.mutate()} busy={make.isPending} error={make.error} submit={title} onCancel={onClose}>
        <TextInput
          label={w.snapshotName}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(make.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        {isSnapshot && (
          <Textarea
            label={w.snapshotAbout}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            maxLength={500}
          />
        )}
      </Form>
    </Dialog>
  )
}

interface ActProps {
  vmId: string
  kind: CopyKind
  copy: Copy
  onClose: () => void
}

function Restore({ vmId, kind, copy, onClose }: ActProps) {
  const [withoutNetworks, setWithoutNetworks] = useState(false)
  const start = () =>
    kind === 'backups' ? berth.backups.restore(vmId, copy.id, { withoutNetworks }) : berth.snapshots.restore(vmId, copy.id)
  const write = useWrite<void, unknown>(start, { inForm: true, changes, says: w.restoring })
  const areNetworksLost = isCode(write.error, 'networks_lost')
  return (
    <Confirm title={w.restoreTitle(copy.name)} submit={w.restore} write={write} onClose={onClose}>
      {w.restoreAbout}
      {(areNetworksLost || withoutNetworks) && (
        <Checkbox
          mt={12}
          label={w.withoutNetworks}
          checked={withoutNetworks}
          onChange={(event) => setWithoutNetworks(event.currentTarget.checked)}
        />
      )}
    </Confirm>
  )
}

function Delete({ vmId, kind, copy, onClose }: ActProps) {
  const write = useWrite<void, unknown>(() => berth[kind].delete(vmId, copy.id), { inForm: true, changes, says: w.deleting })
  return (
    <Confirm title={w.deleteTitle(copy.name)} submit={w.delete} write={write} onClose={onClose}>
      {w.deleteAbout}
    </Confirm>
  )
}
