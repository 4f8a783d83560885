import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { bandwidthQuery } from '../../queries/account.ts'
import { runningActionsQuery, vmsQuery } from '../../queries/vms.ts'
import { Icon } from '../../ui/Icon.tsx'
import { later } from '../../ui/later/later.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Paged } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { LabelFilter } from '../../ui/Labels.tsx'
import { StatusFilter } from '../../ui/StatusFilter.tsx'
import { commonMessages, labelMessages, vmsMessages as w } from '../../words/words.ts'
import { STATUS_CHOICES, filterBy, findChoice } from './status-choices.ts'
import { VmTable } from './VmTable.tsx'

const BulkActions = later<{ labelSelector: string }>(async () => ({ default: (await import('./BulkActions.tsx')).BulkActions }))

export default function VmList() {
  const { search, filter } = usePaging()
  const status = findChoice(search.status)
  const vms = useQuery(vmsQuery({ page: search.page, limit: search.limit, labelSelector: search.labels, ...filterBy(status) }))
  const running = useQuery(runningActionsQuery)
  const traffic = useQuery(bandwidthQuery)
  const create = (
    <ButtonLink to="/vms/new" leftSection={<Icon name="plus" size={16} />}>
      {w.create}
    </ButtonLink>
  )
  const actions = (
    <>
      <LabelFilter />
      {search.labels && !status && <BulkActions labelSelector={search.labels} />}
      <StatusFilter label={w.filter} status={status} choices={STATUS_CHOICES} />
      {create}
    </>
  )
  const empty =
    status || search.labels ? (
      <Empty
        icon="server"
        title={status ? w.noneWith(STATUS_CHOICES[status].toLowerCase()) : labelMessages.noneTitle}
        about={status ? w.noneWithAbout : labelMessages.noneAbout}
        action={
          <Button variant="default" onClick={() => filter({ status: undefined, labels: undefined })}>
            {commonMessages.showAll}
          </Button>
        }
      />
    ) : (
      <Empty icon="server" title={w.emptyTitle} about={w.emptyAbout} action={create} />
    )
  return (
    <Page title={w.title} about={w.about} actions={actions}>
      <Card flush>
        <Paged of={vms} lines={8} empty={empty}>
          {(items) => <VmTable vms={items} running={running.data?.items ?? []} traffic={traffic.data ?? []} />}
        </Paged>
      </Card>
    </Page>
  )
}
