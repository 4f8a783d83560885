import type { Query, SshKey } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { useListQuery } from '../../ui/list-query.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { BulkDelete } from '../../ui/BulkDelete.tsx'
import { createdColumn, ListPage, nameFilters, rowActions } from '../../ui/ListPage.tsx'
import type { Column } from '../../ui/Table.tsx'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { commonMessages, labelMessages, sshKeyMessages as w } from '../../words/words.ts'
import { AddSshKey } from './AddSshKey.tsx'

type Open = { what: 'add' } | { what: 'rename' | 'labels' | 'delete'; key: SshKey } | { what: 'delete all'; keys: SshKey[] } | null

type SshKeySort = NonNullable<Query<'listSshKeys'>['sort']>

export default function SshKeys() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { matching, page } = useListQuery<SshKeySort>()
  const keys = useQuery(sshKeysQuery({ ...matching, ...page }))
  const columns: Column<SshKey>[] = [
    {
      head: commonMessages.name,
      sort: 'name',
      text: ({ name }) => name,
      truncate: ({ name }) => name,
      cell: (key) => (
        <div>
          <strong>{key.name}</strong>
          <LabelChips labels={key.labels} />
        </div>
      ),
    },
    { head: w.type, sort: 'type', optional: 'shown', text: ({ type }) => type, cell: (key) => <code>{key.type}</code> },
    {
      head: w.fingerprint,
      optional: 'shown',
      text: ({ fingerprint }) => fingerprint,
      truncate: ({ fingerprint }) => fingerprint,
      cell: (key) => <code className="muted">{key.fingerprint}</code>,
    },
    { head: w.vms, sort: 'vmCount', optional: 'shown', text: ({ vmCount }) => String(vmCount), cell: (key) => w.vmCount(key.vmCount) },
    createdColumn('shown'),
    rowActions((key) => [
      { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', key }) },
      { label: labelMessages.edit, onClick: () => setOpen({ what: 'labels', key }) },
      { label: w.delete, onClick: () => setOpen({ what: 'delete', key }), danger: true },
    ]),
  ]
  return (
    <ListPage
      words={w}
      icon="key"
      list="ssh-keys"
      create={{ label: w.add, onClick: () => setOpen({ what: 'add' }) }}
      of={keys}
      columns={columns}
      filters={nameFilters()}
      isSortedByApi
      all={() => berth.sshKeys.list(matching)}
      bulk={(rows) => [{ label: w.bulk.delete, icon: 'trash', danger: true, onClick: () => setOpen({ what: 'delete all', keys: rows }) }]}
    >
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
      {open?.what === 'delete all' && (
        <BulkDelete
          rows={open.keys}
          words={{ title: w.bulk.title, about: w.bulk.about, submit: w.bulk.delete }}
          remove={({ id }) => berth.sshKeys.delete(id)}
          invalidates={['ssh-keys', 'limits']}
          onClose={close}
        />
      )}
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
