import { useQuery } from '@tanstack/react-query'
import { capacityQuery, type RegionCapacity } from '../../api/operator.ts'
import type { Column } from '../../ui/Table.tsx'
import { operatorWords } from '../../messages/operator.ts'
import { List } from './List.tsx'
import { Room } from './CapacityMeter.tsx'

const w = operatorWords.capacity
const h = operatorWords.hosts

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
  { head: h.vcpu, cell: ({ vcpu, name }) => <Room of={vcpu} what={h.vcpu} where={name} /> },
  { head: h.ram, cell: ({ ramMiB, name }) => <Room of={ramMiB} what={h.ram} where={name} unit="GiB" mebibytes /> },
  { head: h.disk, cell: ({ diskGiB, name }) => <Room of={diskGiB} what={h.disk} where={name} unit="GiB" /> },
  { head: w.addresses, cell: ({ addresses, name }) => <Room of={addresses} what={w.addresses} where={name} /> },
]

export default function Capacity() {
  const capacity = useQuery(capacityQuery)
  return <List words={w} icon="chart" of={capacity} columns={COLUMNS} rowKey={({ region }) => region} />
}
