import type { Firewall, Query } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { firewallsQuery } from '../../queries/network.ts'
import { TextLink } from '../../ui/links.tsx'
import { LabelChips } from '../../ui/Labels.tsx'
import { useListQuery } from '../../ui/list-query.ts'
import { Status } from '../../ui/Status.tsx'
import { BulkDelete } from '../../ui/BulkDelete.tsx'
import { createdColumn, ListPage, nameFilters } from '../../ui/ListPage.tsx'
import type { Column } from '../../ui/Table.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import { EditFirewall } from './EditFirewall.tsx'

type FirewallSort = NonNullable<Query<'listFirewalls'>['sort']>

const coverOf = ({ coversPrivate }: Firewall): string => (coversPrivate ? w.coversAll : w.coversPublic)
const appliedOf = ({ applied }: Firewall): string => (applied ? w.appliedYes : w.appliedNo)

export default function FirewallList() {
  const [creates, setCreates] = useState(false)
  const [doomed, setDoomed] = useState<Firewall[] | null>(null)
  const { matching, page } = useListQuery<FirewallSort>()
  const firewalls = useQuery(firewallsQuery({ ...matching, ...page }))
  const columns: Column<Firewall>[] = [
    {
      head: w.name,
      sort: 'name',
      text: ({ name }) => name,
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
    { head: w.covers, optional: 'shown', text: coverOf, cell: coverOf },
    {
      head: w.ruleCount,
      sort: 'ruleCount',
      optional: 'shown',
      text: ({ ruleCount }) => String(ruleCount),
      cell: ({ ruleCount }) => ruleCount,
      right: true,
    },
    {
      head: w.bindingCount,
      sort: 'bindingCount',
      optional: 'shown',
      text: ({ bindingCount }) => String(bindingCount),
      cell: ({ bindingCount }) => bindingCount,
      right: true,
    },
    {
      head: w.applied,
      optional: 'shown',
      text: appliedOf,
      cell: (firewall) => <Status tone={firewall.applied ? 'good' : 'busy'}>{appliedOf(firewall)}</Status>,
    },
    createdColumn(),
  ]
  return (
    <ListPage
      words={w}
      icon="shield"
      list="firewalls"
      create={{ label: w.create, onClick: () => setCreates(true) }}
      of={firewalls}
      columns={columns}
      filters={nameFilters()}
      isSortedByApi
      all={() => berth.firewalls.list(matching)}
      bulk={(rows) => [{ label: w.bulk.delete, icon: 'trash', danger: true, onClick: () => setDoomed(rows) }]}
    >
      {creates && <EditFirewall onClose={() => setCreates(false)} />}
      {doomed && (
        <BulkDelete
          rows={doomed}
          words={{ title: w.bulk.title, about: w.bulk.about, submit: w.bulk.delete }}
          obstacleOf={({ bindingCount }) => (bindingCount > 0 ? w.deleteAttached(bindingCount) : null)}
          remove={({ id }) => berth.firewalls.delete(id)}
          invalidates={['firewalls', 'limits']}
          onClose={() => setDoomed(null)}
        />
      )}
    </ListPage>
  )
}
