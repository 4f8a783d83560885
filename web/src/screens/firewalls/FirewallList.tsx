import { Button } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { firewallsQuery } from '../../queries/network.ts'
import { Icon } from '../../ui/Icon.tsx'
import { TextLink } from '../../ui/links.tsx'
import { LabelChips, LabelFilter } from '../../ui/Labels.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { firewallMessages as w } from '../../messages/firewalls.ts'
import { EditFirewall } from './EditFirewall.tsx'

export default function FirewallList() {
  const [creates, setCreates] = useState(false)
  const { search } = usePaging()
  const firewalls = useQuery(firewallsQuery({ page: search.page, limit: search.limit, labelSelector: search.labels }))
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreates(true)}>
      {w.create}
    </Button>
  )
  const columns: Column<Firewall>[] = [
    {
      head: w.name,
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
    { head: w.ruleCount, cell: ({ ruleCount }) => ruleCount, right: true },
    { head: w.bindingCount, cell: ({ bindingCount }) => bindingCount, right: true },
    { head: w.applied, cell: ({ applied }) => <Status tone={applied ? 'good' : 'busy'}>{applied ? w.appliedYes : w.appliedNo}</Status> },
  ]
  return (
    <Page
      title={w.title}
      about={w.about}
      actions={
        <>
          <LabelFilter />
          {create}
        </>
      }
    >
      <Card flush>
        <PagedTable
          of={firewalls}
          caption={w.title}
          columns={columns}
          empty={<Empty icon="shield" title={w.emptyTitle} about={w.emptyAbout} action={create} />}
        />
      </Card>
      {creates && <EditFirewall onClose={() => setCreates(false)} />}
    </Page>
  )
}
