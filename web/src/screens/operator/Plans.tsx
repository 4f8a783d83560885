import type { Plan } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { operatorPlansQuery } from '../../api/operator.ts'
import { formatMoney, formatSize, formatSpeed, formatTraffic } from '../../ui/format.ts'
import type { Column } from '../../ui/Table.tsx'
import { operatorMessages } from '../../words/words.ts'
import { CatalogList } from './CatalogList.tsx'
import { PlanDialog } from './PlanDialog.tsx'

const w = operatorMessages.plans

const COLUMNS: Column<Plan>[] = [
  { head: w.size, cell: formatSize },
  { head: w.cpu, cell: ({ dedicatedCpu, traits }) => [w.cpuKind(dedicatedCpu), ...traits].join(', ') },
  { head: w.storage, cell: ({ storage }) => w.storageKinds[storage] },
  { head: w.trafficHead, cell: ({ bandwidth, networkSpeed }) => `${formatTraffic(bandwidth)} at ${formatSpeed(networkSpeed)}` },
  { head: w.regions, cell: ({ regions }) => regions.join(', ') },
  { head: w.price, cell: ({ priceMonthly, currency }) => formatMoney(priceMonthly, currency), right: true },
]

export default function Plans() {
  const plans = useQuery(operatorPlansQuery)
  return (
    <CatalogList
      messages={w}
      icon="tag"
      of={plans}
      columns={COLUMNS}
      dialog={(plan, onClose) => <PlanDialog plan={plan} onClose={onClose} />}
    />
  )
}
