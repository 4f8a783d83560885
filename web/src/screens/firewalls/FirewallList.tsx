import type { Firewall } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { firewallsQuery } from '../../queries/network.ts'
import { TextLink } from '../../ui/links.tsx'
import { LabelChips } from '../../ui/Labels.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Status } from '../../ui/Status.tsx'
import { ListPage } from '../../ui/ListPage.tsx'
import type { Column } from '../../ui/Table.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import { EditFirewall } from './EditFirewall.tsx'

export default function FirewallList() {
  const [creates, setCreates] = useState(false)
  const { search } = usePaging()
  const firewalls = useQuery(firewallsQuery({ page: search.page, limit: search.limit, labelSelector: search.labels }))
  const columns: Column<Firewall>[] = [
    {
      head: w.name,
      sort: 'name',
      value: ({ name }) => name,
      truncate: ({ name, description }) => [name, description].filter(Boolean).join(': '),
      cell: ({ id, name, description, labels }) => (
        <div>
          <TextLink to="/firewalls/$firewallId" params={{ firewallId: id }}>
            {name}
          </TextLink>
          <div className="muted">{description}</div>
          <LabelChips labels={labels} />
        </div>
      ),
    },
    { head: w.covers, cell: ({ coversPrivate }) => (coversPrivate ? w.coversAll : w.coversPublic) },
    { head: w.ruleCount, sort: 'rules', value: ({ ruleCount }) => ruleCount, cell: ({ ruleCount }) => ruleCount, right: true },
    {
      head: w.bindingCount,
      sort: 'bindings',
      value: ({ bindingCount }) => bindingCount,
      cell: ({ bindingCount }) => bindingCount,
      right: true,
    },
    { head: w.applied, cell: ({ applied }) => <Status tone={applied ? 'good' : 'busy'}>{applied ? w.appliedYes : w.appliedNo}</Status> },
  ]
  return (
    <ListPage words={w} icon="shield" create={{ label: w.create, onClick: () => setCreates(true) }} of={firewalls} columns={columns}>
      {creates && <EditFirewall onClose={() => setCreates(false)} />}
    </ListPage>
  )
}
