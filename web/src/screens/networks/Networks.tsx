import type { Network, Query } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { networksQuery } from '../../queries/network.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { ButtonLink, TextLink } from '../../ui/links.tsx'
import { useListQuery } from '../../ui/list-query.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { BulkDelete } from '../../ui/BulkDelete.tsx'
import { createdColumn, ListPage, nameFilters, rowActions } from '../../ui/ListPage.tsx'
import { RegionFilter } from '../../ui/ListTools.tsx'
import type { Column } from '../../ui/Table.tsx'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { commonMessages, labelMessages, networkMessages as w } from '../../words/words.ts'
import { CreateNetwork } from './CreateNetwork.tsx'
import { DeleteNetwork } from './DeleteNetwork.tsx'

type Open =
  | { what: 'create' }
  | { what: 'rename' | 'labels' | 'delete'; network: Network }
  | { what: 'delete all'; networks: Network[] }
  | null

type NetworkSort = NonNullable<Query<'listNetworks'>['sort']>

const FILTERS = nameFilters(<RegionFilter />, 'region')

export default function Networks() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search, matching, page } = useListQuery<NetworkSort>()
  const query = { ...matching, regionId: search.region }
  const networks = useQuery(networksQuery({ ...query, ...page }))
  const columns: Column<Network>[] = [
    {
      head: w.name,
      sort: 'name',
      text: ({ name }) => name,
      truncate: ({ name }) => name,
      cell: ({ id, name, labels }) => (
        <div>
          <TextLink to="/networks/$networkId" params={{ networkId: id }}>
            {name}
          </TextLink>
          <LabelChips labels={labels} />
        </div>
      ),
    },
    { head: w.cidr, sort: 'cidr', text: ({ cidr }) => cidr, cell: ({ cidr }) => <Copyable text={cidr} what={w.cidr} /> },
    {
      head: w.gateway,
      optional: 'shown',
      text: ({ gateway }) => gateway ?? '',
      cell: ({ gateway }) => <code>{gateway ?? commonMessages.none}</code>,
    },
    {
      head: w.region,
      sort: 'region',
      optional: 'shown',
      text: ({ region }) => region.name,
      cell: ({ region }) => `${region.flag} ${region.name}`,
    },
    {
      head: w.features,
      optional: 'shown',
      cell: ({ enableSnat, enableDhcp }) => [enableSnat && 'SNAT', enableDhcp && 'DHCP'].filter(Boolean).join(', ') || commonMessages.none,
    },
    {
      head: w.vms,
      sort: 'attachmentCount',
      optional: 'shown',
      text: ({ attachmentCount }) => String(attachmentCount),
      cell: ({ attachmentCount }) => attachmentCount,
      right: true,
    },
    createdColumn(),
    rowActions((network) => [
      { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', network }) },
      { label: labelMessages.edit, onClick: () => setOpen({ what: 'labels', network }) },
      { label: w.delete, onClick: () => setOpen({ what: 'delete', network }), danger: true },
    ]),
  ]
  return (
    <ListPage
      words={w}
      icon="network"
      list="networks"
      create={{ label: w.create, onClick: () => setOpen({ what: 'create' }) }}
      more={
        <ButtonLink to="/networks/map" variant="default">
          {w.map.openMap}
        </ButtonLink>
      }
      of={networks}
      columns={columns}
      filters={FILTERS}
      isSortedByApi
      all={() => berth.networks.list(query)}
      bulk={(rows) => [
        { label: w.bulk.delete, icon: 'trash', danger: true, onClick: () => setOpen({ what: 'delete all', networks: rows }) },
      ]}
    >
      {open?.what === 'create' && <CreateNetwork onClose={close} />}
      {open?.what === 'labels' && (
        <LabelsDialog
          name={open.network.name}
          labels={open.network.labels}
          write={(labels) => berth.networks.update(open.network.id, { labels })}
          invalidates={['networks']}
          onClose={close}
        />
      )}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.network.name)}
          name={open.network.name}
          write={(name) => berth.networks.rename(open.network.id, name)}
          invalidates="networks"
          onClose={close}
        />
      )}
      {open?.what === 'delete' && <DeleteNetwork network={open.network} onClose={close} />}
      {open?.what === 'delete all' && (
        <BulkDelete
          rows={open.networks}
          words={{ title: w.bulk.title, about: w.bulk.about, submit: w.bulk.delete }}
          obstacleOf={({ name, attachmentCount }) => (attachmentCount > 0 ? w.deleteAttached(name, attachmentCount) : null)}
          remove={({ id }) => berth.networks.delete(id)}
          invalidates={['networks', 'limits']}
          onClose={close}
        />
      )}
    </ListPage>
  )
}
