import { Button } from '@mantine/core'
import type { Plan } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operatorPlansQuery } from '../../api/operator.ts'
import { formatMoney, formatSize, formatSpeed, formatTraffic } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { commonMessages } from '../../messages/common.ts'
import { operatorMessages } from '../../messages/operator.ts'
import { List } from './List.tsx'
import { PlanDialog } from './PlanDialog.tsx'

const w = operatorMessages.plans

export default function Plans() {
  const [edited, setEdited] = useState<Plan | 'new' | null>(null)
  const plans = useQuery(operatorPlansQuery)
  const columns: Column<Plan>[] = [
    {
      head: w.name,
      cell: ({ name, slug }) => (
        <div>
          <strong>{name}</strong>
          <div className="muted">{slug}</div>
        </div>
      ),
    },
    { head: w.size, cell: formatSize },
    { head: w.trafficHead, cell: ({ bandwidth, networkSpeed }) => `${formatTraffic(bandwidth)} at ${formatSpeed(networkSpeed)}` },
    { head: w.regions, cell: ({ regions }) => regions.join(', ') },
    { head: w.price, cell: ({ priceMonthly, currency }) => formatMoney(priceMonthly, currency), right: true },
    {
      head: w.availability,
      cell: ({ available }) => <Status tone={available ? 'good' : 'idle'}>{available ? w.available : w.unavailable}</Status>,
    },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (plan) => (
        <Button variant="default" size="xs" aria-label={`${w.edit}: ${plan.name}`} onClick={() => setEdited(plan)}>
          {w.edit}
        </Button>
      ),
    },
  ]
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEdited('new')}>
      {w.create}
    </Button>
  )
  return (
    <List messages={w} icon="tag" of={plans} columns={columns} rowKey={({ id }) => id} actions={add}>
      {edited && <PlanDialog plan={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </List>
  )
}
