import type { SshKey } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { ListPage, rowActions } from '../../ui/ListPage.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { commonMessages, labelMessages, sshKeyMessages as w } from '../../words/words.ts'
import { AddSshKey } from './AddSshKey.tsx'

type Open = { what: 'add' } | { what: 'rename' | 'labels' | 'delete'; key: SshKey } | null

export default function SshKeys() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search } = usePaging()
  const keys = useQuery(sshKeysQuery({ page: search.page, limit: search.limit, labelSelector: search.labels }))
  const columns: Column<SshKey>[] = [
    {
      head: commonMessages.name,
      sort: 'name',
      value: ({ name }) => name,
      truncate: ({ name }) => name,
      cell: (key) => (
        <div>
          <strong>{key.name}</strong>
          <LabelChips labels={key.labels} />
        </div>
      ),
    },
    { head: w.type, sort: 'type', value: ({ type }) => type, cell: (key) => <code>{key.type}</code> },
    { head: w.fingerprint, truncate: ({ fingerprint }) => fingerprint, cell: (key) => <code className="muted">{key.fingerprint}</code> },
    { head: w.vms, sort: 'vms', value: ({ vmCount }) => vmCount, cell: (key) => w.vmCount(key.vmCount) },
    {
      head: commonMessages.created,
      sort: 'createdAt',
      value: ({ createdAt }) => createdAt,
      cell: (key) => <Time at={key.createdAt} as="date" />,
    },
    rowActions((key) => [
      { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', key }) },
      { label: labelMessages.edit, onClick: () => setOpen({ what: 'labels', key }) },
      { label: w.delete, onClick: () => setOpen({ what: 'delete', key }), danger: true },
    ]),
  ]
  return (
    <ListPage words={w} icon="key" create={{ label: w.add, onClick: () => setOpen({ what: 'add' }) }} of={keys} columns={columns}>
      {open?.what === 'add' && <AddSshKey onClose={close} />}
      {open?.what === 'labels' && (
        <LabelsDialog
          name={open.key.name}
          labels={open.key.labels}
          write={(labels) => berth.sshKeys.update(open.key.id, { labels })}
          invalidates={['ssh-keys']}
          onClose={close}
        />
      )}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.key.name)}
          name={open.key.name}
          write={(name) => berth.sshKeys.rename(open.key.id, name)}
          invalidates="ssh-keys"
          onClose={close}
        />
      )}
      {open?.what === 'delete' && <DeleteKey sshKey={open.key} onClose={close} />}
    </ListPage>
  )
}

function DeleteKey({ sshKey, onClose }: { sshKey: SshKey; onClose: () => void }) {
  const write = useWrite(() => berth.sshKeys.delete(sshKey.id), {
    inForm: true,
    invalidates: ['ssh-keys'],
    successMessage: w.deleted(sshKey.name),
  })
  return (
    <ConfirmDialog title={w.deleteTitle} submit={w.delete} write={write} onClose={onClose}>
      {w.deleteAbout(sshKey.name)}
    </ConfirmDialog>
  )
}
