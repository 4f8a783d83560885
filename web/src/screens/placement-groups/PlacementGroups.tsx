import type { PlacementGroup } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { placementGroupsQuery } from '../../queries/vms.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { LABELS, ListPage, rowActions } from '../../ui/ListPage.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { commonMessages, labelMessages, placementGroupMessages as w } from '../../words/words.ts'
import { CreatePlacementGroup } from './CreatePlacementGroup.tsx'

type Open = { what: 'create' } | { what: 'rename' | 'labels' | 'delete'; group: PlacementGroup } | null

export default function PlacementGroups() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search } = usePaging()
  const groups = useQuery(placementGroupsQuery({ page: search.page, limit: search.limit, labelSelector: search.labels }))
  const namesOf = ({ vms }: PlacementGroup): string => vms.map(({ name }) => name).join(', ') || commonMessages.none
  const columns: Column<PlacementGroup>[] = [
    {
      head: commonMessages.name,
      sort: 'name',
      value: ({ name }) => name,
      truncate: ({ name }) => name,
      cell: ({ name, labels }) => (
        <div>
          <strong>{name}</strong>
          <LabelChips labels={labels} />
        </div>
      ),
    },
    { head: w.policy, sort: 'policy', value: ({ policy }) => w.policies[policy], cell: ({ policy }) => w.policies[policy] },
    { head: w.vms, truncate: namesOf, cell: namesOf },
    { head: w.hosts, cell: ({ hostCount }) => hostCount },
    {
      head: commonMessages.created,
      sort: 'createdAt',
      value: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    },
    rowActions((group) => [
      { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', group }) },
      { label: labelMessages.edit, onClick: () => setOpen({ what: 'labels', group }) },
      { label: w.delete, onClick: () => setOpen({ what: 'delete', group }), danger: true },
    ]),
  ]
  return (
    <ListPage
      words={w}
      icon="layout"
      list="placement-groups"
      create={{ label: w.create, onClick: () => setOpen({ what: 'create' }) }}
      of={groups}
      columns={columns}
      filters={LABELS}
      all={() => berth.placementGroups.list({ labelSelector: search.labels })}
    >
      {open?.what === 'create' && <CreatePlacementGroup onClose={close} />}
      {open?.what === 'labels' && (
        <LabelsDialog
          name={open.group.name}
          labels={open.group.labels}
          write={(labels) => berth.placementGroups.update(open.group.id, { labels })}
          invalidates={['placement-groups']}
          onClose={close}
        />
      )}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.group.name)}
          name={open.group.name}
          write={(name) => berth.placementGroups.rename(open.group.id, name)}
          invalidates="placement-groups"
          onClose={close}
        />
      )}
      {open?.what === 'delete' && <DeleteGroup group={open.group} onClose={close} />}
    </ListPage>
  )
}

function DeleteGroup({ group, onClose }: { group: PlacementGroup; onClose: () => void }) {
  const write = useWrite(() => berth.placementGroups.delete(group.id), {
    inForm: true,
    invalidates: ['placement-groups'],
    successMessage: w.deleted(group.name),
  })
  return (
    <ConfirmDialog title={w.deleteTitle} submit={w.delete} write={write} onClose={onClose}>
      {w.deleteAbout(group.name)}
    </ConfirmDialog>
  )
}
