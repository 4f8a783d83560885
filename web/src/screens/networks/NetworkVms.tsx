import type { Network, VmListItem } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { networkAddressQuery } from '../../queries/network.ts'
import { vmsQuery } from '../../queries/vms.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Copyable } from '../../ui/CopyButton.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { networkMessages as w, vmsMessages } from '../../words/words.ts'
import { VmStatus } from '../vms/VmStatus.tsx'
import css from './networks.module.css'

const SHOWN = 100

const columnsIn = (networkId: string): Column<VmListItem>[] => [
  {
    head: vmsMessages.columns.name,
    truncate: ({ name }) => name,
    cell: ({ id, name }) => (
      <TextLink to="/vms/$vmId" params={{ vmId: id }}>
        {name}
      </TextLink>
    ),
  },
  {
    head: vmsMessages.columns.status,
    cell: ({ name, status, shelvedAt }) => <VmStatus name={name} status={status} isShelved={shelvedAt !== null} />,
  },
  { head: w.address, cell: ({ id, name }) => <AddressIn networkId={networkId} vmId={id} name={name} /> },
]

function AddressIn({ networkId, vmId, name }: { networkId: string; vmId: string; name: string }) {
  const { data } = useQuery(networkAddressQuery(networkId, vmId))
  return data ? <Copyable text={data} what={w.addressOf(name)} /> : <span className="muted">–</span>
}

export function NetworkVms({ network: { id } }: { network: Network }) {
  const vms = useQuery(vmsQuery({ network: id, limit: SHOWN, sort: 'name' }))
  return (
    <Card flush title={w.vms} about={w.vmsAbout}>
      <Loaded of={vms} lines={2}>
        {({ items, pagination }) =>
          items.length === 0 ? (
            <p className={css['none']}>{w.noVms}</p>
          ) : (
            <>
              <Table caption={w.vms} columns={columnsIn(id)} rows={items} rowKey={(vm) => vm.id} />
              {pagination.total > items.length && <p className={css['none']}>{w.moreVms(pagination.total - items.length)}</p>}
            </>
          )
        }
      </Loaded>
    </Card>
  )
}
