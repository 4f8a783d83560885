import { useQuery } from '@tanstack/react-query'
import { capacityQuery, type RegionCapacity } from '../../api/operator.ts'
import type { Column } from '../../ui/Table.tsx'
import { operatorMessages } from '../../words/words.ts'
import { List } from './List.tsx'
import { CapacityMeter } from './CapacityMeter.tsx'

const w = operatorMessages.capacity
const h = operatorMessages.hosts

const COLUMNS: Column<RegionCapacity>[] = [
  {
    head: w.region,
    cell: ({ name, region }) => (
      <div>
        <strong>{name}</strong>
        <div className="muted">{region}</div>
      </div>
    ),
  },
  { head: w.hosts, cell: ({ hosts }) => hosts, right: true },
  { head: h.vcpu, cell: ({ vcpu, name }) => <CapacityMeter of={vcpu} what={h.vcpu} where={name} /> },
  { head: h.ram, cell: ({ ramMiB, name }) => <CapacityMeter of={ramMiB} what={h.ram} where={name} unit="GiB" mebibytes /> },
  { head: h.disk, cell: ({ diskGiB, name }) => <CapacityMeter of={diskGiB} what={h.disk} where={name} unit="GiB" /> },
  { head: w.addresses, cell: ({ addresses, name }) => <CapacityMeter of={addresses} what={w.addresses} where={name} /> },
]

export default function Capacity() {
  const capacity = useQuery(capacityQuery)
  return <List messages={w} icon="chart" of={capacity} columns={COLUMNS} rowKey={({ region }) => region} />
}
