// VMs of all accounts.
import { NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { hostsQuery, operatorVmsQuery, type OperatorVm } from '../../api/operator.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Filters } from '../../ui/Filters.tsx'
import { ButtonLink, TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { StatusBadge, statusName } from '../../ui/Status.tsx'
import { StatusFilter } from '../../ui/StatusFilter.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorVmMessages as w, vmsMessages } from '../../words/words.ts'

const STATUSES = ['RUNNING', 'STOPPED', 'PROVISIONING', 'SHELVED', 'SUSPENDED', 'UNMANAGED', 'ERROR']

const COLUMNS: Column<OperatorVm>[] = [
  {
    head: vmsMessages.columns.name,
    truncate: ({ name }) => name,
    cell: ({ id, name }) => (
      <div>
        <strong>{name}</strong>
        <div className="muted numbers">{id}</div>
      </div>
    ),
  },
  {
    head: w.account,
    truncate: ({ email }) => email,
    cell: ({ accountId, email }) => (
      <TextLink to="/operator/accounts/$accountId" params={{ accountId }}>
        {email}
      </TextLink>
    ),
  },
  { head: vmsMessages.columns.status, cell: ({ status }) => <StatusBadge status={status} /> },
  {
    head: vmsMessages.columns.address,
    cell: ({ ipAddress, ipv6Address }) => <code>{ipAddress ?? ipv6Address ?? commonMessages.unknown}</code>,
  },
  { head: w.host, cell: ({ host }) => host ?? commonMessages.unknown },
  { head: w.created, cell: ({ createdAt }) => <Time at={createdAt} as="date" />, right: true },
]

const looksLikeAddress = (text: string): boolean => /^[\d.]+$|:.*:/.test(text)

export default function AllVms() {
  const { search, filter } = usePaging()
  const { page, limit, action: q, status, vm: host } = search
  const [typed, setTyped] = useState(q ?? '')
  const apply = useDebouncedCallback((text: string) => filter({ action: text || undefined }), 300)
  const hosts = useQuery(hostsQuery).data ?? []
  const vms = useQuery(operatorVmsQuery({ page, limit, q, status: STATUSES.find((each) => each === status), host }))
  const history = (
    <ButtonLink variant="default" to="/operator/addresses" search={q !== undefined && looksLikeAddress(q) ? { action: q } : {}}>
      {w.addressHistory}
    </ButtonLink>
  )
  return (
    <Page title={w.title} about={w.about} actions={history}>
      <Card flush>
        <Filters>
          <TextInput
            aria-label={w.search}
            placeholder={w.search}
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value)
              apply(event.currentTarget.value.trim())
            }}
            style={{ flexBasis: 320 }}
          />
          <StatusFilter label={w.status} status={status} choices={Object.fromEntries(STATUSES.map((each) => [each, statusName(each)]))} />
          <NativeSelect
            aria-label={w.host}
            value={host ?? ''}
            onChange={(event) => filter({ vm: event.currentTarget.value || undefined })}
            data={[{ value: '', label: w.anyHost }, ...hosts.map(({ id, name }) => ({ value: id, label: name }))]}
          />
        </Filters>
        <PagedTable
          of={vms}
          caption={w.title}
          columns={COLUMNS}
          empty={
            <Empty
              icon="server"
              title={w.empty}
              about={q === undefined && status === undefined && host === undefined ? w.emptyAbout : w.emptyFound}
              action={q === undefined ? undefined : history}
            />
          }
        />
      </Card>
    </Page>
  )
}
