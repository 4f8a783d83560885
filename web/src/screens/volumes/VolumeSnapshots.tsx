import { Button, Group, Textarea, TextInput } from '@mantine/core'
import type { Volume, VolumeSnapshot } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { commonMessages, labelMessages, volumeMessages } from '../../words/words.ts'
import { volumeSnapshotsQuery } from '../../queries/vms.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { formatBytes } from '../../ui/format.ts'
import { Form } from '../../ui/Form.tsx'
import { LabelsDialog, LabelTags } from '../../ui/Labels.tsx'
import { Stack } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'

const w = volumeMessages.snapshots
const CHANGED = ['volume-snapshots', 'volumes', 'actions', 'limits', 'wallet']

type Open = 'list' | 'create' | { what: 'restore' | 'labels' | 'delete'; snapshot: VolumeSnapshot }

/** The list, and in its place what is done with a snapshot. */
export function VolumeSnapshots({ volume, onClose }: { volume: Volume; onClose: () => void }) {
  const [open, setOpen] = useState<Open>('list')
  const snapshots = useQuery(volumeSnapshotsQuery(volume.id))
  const back = (): void => setOpen('list')
  if (open === 'create') return <CreateSnapshot volume={volume} onClose={back} />
  if (open !== 'list' && open.what === 'labels')
    return (
      <LabelsDialog
        name={open.snapshot.name}
        labels={open.snapshot.labels}
        write={(labels) => berth.volumeSnapshots.update(volume.id, open.snapshot.id, { labels })}
        invalidates={['volume-snapshots']}
        onClose={back}
      />
    )
  if (open !== 'list') {
    const Confirm = open.what === 'restore' ? RestoreSnapshot : DeleteSnapshot
    return <Confirm volume={volume} snapshot={open.snapshot} onClose={back} />
  }
  const columns: Column<VolumeSnapshot>[] = [
    {
      head: commonMessages.name,
      truncate: ({ name, description }) => [name, description].filter(Boolean).join(': '),
      cell: ({ name, labels }) => (
        <div>
          {name}
          <LabelTags labels={labels} />
        </div>
      ),
    },
    { head: commonMessages.status, cell: ({ status }) => <StatusBadge status={status} working /> },
    { head: w.size, cell: ({ size }) => formatBytes(size), right: true },
    { head: commonMessages.created, cell: ({ createdAt }) => <Time at={createdAt} />, right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (snapshot) => (
        <RowMenu
          name={snapshot.name}
          items={[
            {
              label: w.restore,
              onClick: () => setOpen({ what: 'restore', snapshot }),
              disabled: snapshot.status !== 'AVAILABLE' || volume.vmId !== null || volume.isProtected,
            },
            {
              label: labelMessages.edit,
              onClick: () => setOpen({ what: 'labels', snapshot }),
              disabled: snapshot.status === 'DELETING',
            },
            {
              label: w.delete,
              onClick: () => setOpen({ what: 'delete', snapshot }),
              danger: true,
              disabled: snapshot.status === 'DELETING',
            },
          ]}
        />
      ),
    },
  ]
  return (
    <Dialog title={w.title(volume.name)} onClose={onClose} size="xl">
      <Stack>
        <p className="muted">{volume.vmId === null ? w.about : w.aboutAttached}</p>
        <Loaded of={snapshots} lines={2}>
          {({ items }) =>
            items.length === 0 ? <p>{w.none}</p> : <Table caption={w.caption} columns={columns} rows={items} rowKey={({ id }) => id} />
          }
        </Loaded>
        <Group justify="flex-end">
          <Button onClick={() => setOpen('create')} disabled={volume.currentAction !== null}>
            {w.create}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function CreateSnapshot({ volume, onClose }: { volume: Volume; onClose: () => void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const quote = useQuery({
    queryKey: ['volume-snapshots', 'quote', volume.id],
    queryFn: ({ signal }) => berth.volumeSnapshots.quoteCreate(volume.id, { name: '-' }, { signal }),
    gcTime: 0, // a reopened dialog gets a fresh price
  })
  const create = useWrite(() => berth.volumeSnapshots.create(volume.id, { name, ...(description && { description }) }), {
    inForm: true,
    invalidates: CHANGED,
    successMessage: w.creating,
    onDone: onClose,
  })
  return (
    <Dialog title={w.create} onClose={onClose}>
      <Form
        onSubmit={() => create.mutate()}
        busy={create.isPending}
        error={create.error ?? quote.error}
        submit={w.create}
        onCancel={onClose}
        disabled={!quote.data}
      >
        <TextInput
          label={commonMessages.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(create.error, 'name')}
          maxLength={100}
          required
          data-autofocus
        />
        <Textarea
          label={w.description}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          maxLength={500}
        />
        {quote.data && Number(quote.data.charge) > 0 && <p>{w.price(quote.data.charge, quote.data.monthly, quote.data.currency)}</p>}
      </Form>
    </Dialog>
  )
}

interface SnapshotProps {
  volume: Volume
  snapshot: VolumeSnapshot
  onClose: () => void
}

function RestoreSnapshot({ volume, snapshot, onClose }: SnapshotProps) {
  const write = useWrite(() => berth.volumeSnapshots.restore(volume.id, snapshot.id), {
    inForm: true,
    invalidates: CHANGED,
    successMessage: w.restoring,
  })
  return (
    <ConfirmDialog title={w.restoreTitle(snapshot.name)} submit={w.restore} write={write} onClose={onClose}>
      {w.restoreAbout(volume.name)}
    </ConfirmDialog>
  )
}

function DeleteSnapshot({ volume, snapshot, onClose }: SnapshotProps) {
  const write = useWrite(() => berth.volumeSnapshots.delete(volume.id, snapshot.id), {
    inForm: true,
    invalidates: CHANGED,
    successMessage: w.deleting,
  })
  return (
    <ConfirmDialog title={w.deleteTitle(snapshot.name)} submit={w.delete} write={write} onClose={onClose}>
      {w.deleteAbout}
    </ConfirmDialog>
  )
}
