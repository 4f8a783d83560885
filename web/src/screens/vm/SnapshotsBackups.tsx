import { Textarea, TextInput } from '@mantine/core'
import type { Quote, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { backupScreenshotQuery, backupsQuery, snapshotsQuery } from '../../queries/vms.ts'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Form } from '../../ui/Form.tsx'
import { LabelsDialog } from '../../ui/Labels.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { imageMessages, vmMessages } from '../../words/words.ts'
import { CreateImage } from '../images/CreateImage.tsx'
import type { Source } from '../images/source.ts'
import { CopyTable, type Copy, type CopyKind } from './CopyTable.tsx'
import { ActionButton } from './ActionButton.tsx'

const w = vmMessages.copies
const invalidates = ['snapshots', 'backups', 'vm', 'vms', 'wallet', 'actions']

type Open =
  | { what: 'make'; kind: CopyKind }
  | { what: 'image'; name: string; source: Source }
  | { what: 'restore' | 'labels' | 'delete' | 'screenshot'; kind: CopyKind; copy: Copy }
  | null

export function SnapshotsBackups({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<Open>(null)
  const navigate = useNavigate()
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
      {...(kind === 'backups' && {
        onNewVm: (copy: Copy) => void navigate({ to: '/vms/new', search: { vm: vm.id, backup: copy.id } }),
        onScreenshot: (copy: Copy) => setOpen({ what: 'screenshot', kind, copy }),
      })}
      onImage={({ id, name }) => setOpen({ what: 'image', name, source: kind === 'snapshots' ? { snapshotId: id } : { backupId: id } })}
      onLabels={(copy) => setOpen({ what: 'labels', kind, copy })}
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
          <ActionButton vm={vm} action="snapshot" size="xs" onClick={() => setOpen({ what: 'make', kind: 'snapshots' })}>
            {w.createSnapshot}
          </ActionButton>
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
          <ActionButton vm={vm} action="backup" size="xs" variant="default" onClick={() => setOpen({ what: 'make', kind: 'backups' })}>
            {w.createBackup}
          </ActionButton>
        }
      >
        <Loaded of={backups} lines={2}>
          {({ items }) => tableOf('backups', items, w.noBackups)}
        </Loaded>
      </Card>
      <Card
        flush
        title={imageMessages.title}
        about={imageMessages.makeAbout}
        actions={
          <ActionButton
            vm={vm}
            action="backup"
            size="xs"
            variant="default"
            onClick={() => setOpen({ what: 'image', name: vm.name, source: { vmId: vm.id } })}
          >
            {imageMessages.make}
          </ActionButton>
        }
      >
        <p style={{ padding: '18px 20px' }}>
          <TextLink to="/images">{imageMessages.all}</TextLink>
        </p>
      </Card>
      {open?.what === 'image' && <CreateImage of={open} onClose={close} />}
      {open?.what === 'make' && <CreateCopy vmId={vm.id} kind={open.kind} onClose={close} />}
      {open?.what === 'restore' && <RestoreCopy vmId={vm.id} kind={open.kind} copy={open.copy} onClose={close} />}
      {open?.what === 'screenshot' && <Screenshot vmId={vm.id} copy={open.copy} onClose={close} />}
      {open?.what === 'labels' && (
        <LabelsDialog
          name={open.copy.name}
          labels={open.copy.labels}
          write={(labels) => berth[open.kind].update(vm.id, open.copy.id, { labels })}
          invalidates={[open.kind]}
          onClose={close}
        />
      )}
      {open?.what === 'delete' && <DeleteCopy vmId={vm.id} kind={open.kind} copy={open.copy} onClose={close} />}
    </Stack>
  )
}

export function CreateCopy({ vmId, kind, onClose }: { vmId: string; kind: CopyKind; onClose: () => void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const isSnapshot = kind === 'snapshots'
  const title = isSnapshot ? w.createSnapshot : w.createBackup
  const quote = useQuery({
    queryKey: ['quote', vmId, kind],
    queryFn: ({ signal }) => berth[kind].quoteCreate(vmId, { name: title }, { signal }),
    gcTime: 0, // a reopened dialog gets a fresh price
  })
  const make = useWrite<void, unknown>(
    () => (isSnapshot ? berth.snapshots.create(vmId, { name, ...(description && { description }) }) : berth.backups.create(vmId, { name })),
    { inForm: true, invalidates, successMessage: isSnapshot ? w.creatingSnapshot : w.creatingBackup, onDone: onClose },
  )
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        onSubmit={() => make.mutate()}
        busy={make.isPending}
        error={make.error ?? quote.error}
        submit={title}
        onCancel={onClose}
        disabled={!quote.data}
      >
        <TextInput
          label={w.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(make.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        {isSnapshot && (
          <Textarea
            label={w.description}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            maxLength={500}
          />
        )}
        {quote.data && <CopyPrice quote={quote.data} />}
      </Form>
    </Dialog>
  )
}

/** Nothing where copies are free. */
const CopyPrice = ({ quote: { charge, monthly, balanceAfter, currency } }: { quote: Quote }) =>
  Number(charge) > 0 && <p>{w.price(formatMoney(charge, currency), formatMoney(monthly, currency), formatMoney(balanceAfter, currency))}</p>

interface CopyDialogProps {
  vmId: string
  kind: CopyKind
  copy: Copy
  onClose: () => void
}

function RestoreCopy({ vmId, kind, copy, onClose }: CopyDialogProps) {
  const write = useWrite<void, unknown>(() => berth[kind].restore(vmId, copy.id), {
    inForm: true,
    invalidates,
    successMessage: w.restoring,
  })
  return (
    <ConfirmDialog title={w.restoreTitle(copy.name)} submit={w.restoreButton[kind]} write={write} onClose={onClose}>
      {w.restoreAbout}
    </ConfirmDialog>
  )
}

function Screenshot({ vmId, copy, onClose }: Omit<CopyDialogProps, 'kind'>) {
  const screenshot = useQuery(backupScreenshotQuery(vmId, copy.id))
  const title = w.proof.title(copy.name)
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{w.proof.about}</p>
      <Loaded of={screenshot}>
        {({ png }) => <img src={`data:image/png;base64,${png}`} alt={title} style={{ maxWidth: '100%', display: 'block' }} />}
      </Loaded>
    </Dialog>
  )
}

function DeleteCopy({ vmId, kind, copy, onClose }: CopyDialogProps) {
  const write = useWrite<void, unknown>(() => berth[kind].delete(vmId, copy.id), { inForm: true, invalidates, successMessage: w.deleting })
  return (
    <ConfirmDialog title={w.deleteTitle(copy.name)} submit={w.deleteButton[kind]} write={write} onClose={onClose}>
      {w.deleteAbout[kind]}
    </ConfirmDialog>
  )
}
