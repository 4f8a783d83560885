import type { Network } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { networksQuery } from '../../queries/network.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { ButtonLink, TextLink } from '../../ui/links.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { ListPage, rowActions } from '../../ui/ListPage.tsx'
import type { Column } from '../../ui/Table.tsx'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { commonMessages, labelMessages, networkMessages as w } from '../../words/words.ts'
import { CreateNetwork } from './CreateNetwork.tsx'
import { DeleteNetwork } from './DeleteNetwork.tsx'

type Open = { what: 'create' } | { what: 'rename' | 'labels' | 'delete'; network: Network } | null

export default function Networks() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search } = usePaging()
  const networks = useQuery(networksQuery({ page: search.page, limit: search.limit, labelSelector: search.labels }))
  const columns: Column<Network>[] = [
    {
      head: w.name,
      sort: 'name',
      value: ({ name }) => name,
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
    { head: w.cidr, sort: 'cidr', value: ({ cidr }) => cidr, cell: ({ cidr }) => <Copyable text={cidr} what={w.cidr} /> },
    { head: w.gateway, cell: ({ gateway }) => <code>{gateway ?? commonMessages.none}</code> },
    { head: w.region, sort: 'region', value: ({ region }) => region.name, cell: ({ region }) => `${region.flag} ${region.name}` },
    {
      head: w.features,
      cell: ({ enableSnat, enableDhcp }) => [enableSnat && 'SNAT', enableDhcp && 'DHCP'].filter(Boolean).join(', ') || commonMessages.none,
    },
    {
      head: w.vms,
      sort: 'vms',
      value: ({ attachmentCount }) => attachmentCount,
      cell: ({ attachmentCount }) => attachmentCount,
      right: true,
    },
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
      create={{ label: w.create, onClick: () => setOpen({ what: 'create' }) }}
      more={
        <ButtonLink to="/networks/map" variant="default">
          {w.map.openMap}
        </ButtonLink>
      }
      of={networks}
      columns={columns}
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
    </ListPage>
  )
}
