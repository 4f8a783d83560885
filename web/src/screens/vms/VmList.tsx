import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { Page as Listed, Query, VmListItem } from '@berth/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useCurrency } from '../../api/session.ts'
import { bandwidthQuery } from '../../queries/account.ts'
import { runningActionsQuery, vmsQuery } from '../../queries/vms.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { ColumnChooser, useColumns, type Chooser } from '../../ui/ColumnChooser.tsx'
import { CsvButton } from '../../ui/CsvButton.tsx'
import { formatNumber } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { LabelsDialog } from '../../ui/Labels.tsx'
import { later } from '../../ui/later/later.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { ListTools, SortSelect } from '../../ui/ListTools.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Paged } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import { useSelection, type Selection } from '../../ui/selection.ts'
import { SelectionBar } from '../../ui/SelectionBar.tsx'
import { useSorting } from '../../ui/sorting.ts'
import { Table } from '../../ui/Table.tsx'
import { VirtualTable, VIRTUAL_PAGE } from '../../ui/VirtualTable.tsx'
import { commonMessages, listMessages, vmsMessages as w } from '../../words/words.ts'
import { BULK_ACTIONS } from './bulk.ts'
import { vmColumns } from './vm-columns.tsx'
import { VmFilters, vmQueryOf, VM_FILTERS } from './VmFilters.tsx'
import { useRecentLoad } from './VmLoad.tsx'
import type { VmAction } from './VmMenu.tsx'
import css from './vms.module.css'

const BulkActions = later(() => import('./BulkActions.tsx'))
const BulkDialog = later(() => import('./BulkDialog.tsx'))

type VmSort = NonNullable<Query<'listVms'>['sort']>

const ICONS = { START: 'play', STOP: 'stop', RESTART: 'restart', SNAPSHOT: 'camera', DELETE: 'trash' } as const

/** From here on a list can be shown as one that scrolls. */
const MANY = 100

export default function VmList() {
  const { search, filter, setSearch } = usePaging()
  const sorting = useSorting()
  const query = { ...vmQueryOf(search), ...(sorting.sort && { sort: sorting.sort as VmSort }) }
  const isWide = useMediaQuery('(min-width: 761px)', true, { getInitialValueInEffect: false })
  const isWhole = search.view === 'all' && isWide
  const vms = useQuery(vmsQuery({ ...query, page: isWhole ? 1 : search.page, limit: isWhole ? VIRTUAL_PAGE : search.limit }))
  const [shown, setShown] = useState<VmListItem[]>([])
  const selection = useSelection(JSON.stringify(query))
  const [asked, setAsked] = useState<Asked | null>(null)
  const rows = isWhole ? shown : (vms.data?.items ?? [])
  const columns = useVmColumns(rows, (vm, action) => setAsked({ action, vms: [vm] }))
  const isFiltered = VM_FILTERS.some((name) => search[name] !== undefined)
  const total = vms.data?.pagination.total ?? 0
  const create = (
    <ButtonLink to="/vms/new" leftSection={<Icon name="plus" size={16} />}>
      {w.create}
    </ButtonLink>
  )
  const actions = (
    <>
      {search.labels && VM_FILTERS.every((name) => name === 'labels' || search[name] === undefined) && (
        <BulkActions labelSelector={search.labels} />
      )}
      {create}
    </>
  )
  const empty = isFiltered ? (
    <Empty
      icon="server"
      title={listMessages.noMatch}
      about={listMessages.noMatchAbout}
      action={
        <Button variant="default" onClick={() => filter(Object.fromEntries(VM_FILTERS.map((name) => [name, undefined])))}>
          {listMessages.clearFilters}
        </Button>
      }
    />
  ) : (
    <Empty icon="server" title={w.emptyTitle} about={w.emptyAbout} action={create} />
  )
  const tools = (
    <>
      <SortSelect columns={columns.all} sorting={sorting} />
      <ColumnChooser columns={columns} />
      <CsvButton fileName={w.csvFile} columns={columns.all} rows={() => berth.vms.list(query)} />
    </>
  )
  const parts = { caption: w.title, columns: columns.shown, sorting, selection, rowKey: idOf, nameOf }
  return (
    <Page title={w.title} about={w.about} actions={actions}>
      <Card flush>
        {(isFiltered || total > 0) && (
          <ListTools filters={VM_FILTERS} tools={tools}>
            <VmFilters />
          </ListTools>
        )}
        <SelectionBar
          selection={selection}
          actions={BULK_ACTIONS.map((action) => ({
            label: w.bulk.submit[action],
            icon: ICONS[action],
            danger: action === 'DELETE',
            onClick: () => setAsked({ action, vms: null }),
          }))}
        />
        {isWhole && total > 0 ? (
          <VirtualTable {...parts} total={total} pageQuery={(page) => vmPageQuery(query, page)} onRows={setShown} />
        ) : (
          <Paged of={vms} lines={8} empty={empty}>
            {(items) => <Table {...parts} rows={items} />}
          </Paged>
        )}
        {isWide && total > MANY && (
          <div className={css['view']}>
            <Button variant="subtle" size="xs" onClick={() => setSearch({ view: isWhole ? undefined : 'all', page: undefined })}>
              {isWhole ? listMessages.showPages : listMessages.showAll(formatNumber(total))}
            </Button>
          </div>
        )}
      </Card>
      {asked && <AskedDialog asked={asked} selection={selection} onClose={() => setAsked(null)} />}
    </Page>
  )
}

const idOf = ({ id }: VmListItem): string => id
const nameOf = ({ name }: VmListItem): string => name

/** Changes of thousands of rows are looked for less often. */
const vmPageQuery = (query: Query<'listVms'>, page: number) =>
  queryOptions<Listed<VmListItem>, Error, Listed<VmListItem>, readonly unknown[]>({
    queryKey: ['vms', query, 'rows', page],
    queryFn: ({ signal }) => berth.vms.list({ ...query, page, limit: VIRTUAL_PAGE }, { signal }).page(),
    refetchInterval: 5_000,
    staleTime: 3_000,
  })

function useVmColumns(rows: VmListItem[], onAction: (vm: VmListItem, action: VmAction) => void): Chooser<VmListItem> {
  const running = useQuery(runningActionsQuery).data?.items ?? []
  const traffic = useQuery(bandwidthQuery).data ?? []
  const currency = useCurrency()
  const loadOf = useRecentLoad(rows.map(idOf))
  const actionOf = new Map(running.map((action) => [action.vmId, action]))
  const trafficOf = new Map(traffic.map((usage) => [usage.vmId, usage]))
  return useColumns('vms', vmColumns({ actionOf, trafficOf, loadOf, currency, onAction }))
}

interface Asked {
  action: VmAction
  /** Null: those that are selected. */
  vms: VmListItem[] | null
}

function AskedDialog({ asked: { action, vms }, selection, onClose }: { asked: Asked; selection: Selection; onClose: () => void }) {
  if (action === 'RENAME' || action === 'LABELS') {
    const [vm] = vms!
    const invalidates = ['vms', 'vm']
    return action === 'RENAME' ? (
      <RenameDialog
        title={commonMessages.rename}
        name={vm!.name}
        write={(name) => berth.vms.update(vm!.id, { name })}
        invalidates={invalidates}
        onClose={onClose}
      />
    ) : (
      <LabelsDialog
        name={vm!.name}
        labels={vm!.labels}
        write={(labels) => berth.vms.update(vm!.id, { labels })}
        invalidates={invalidates}
        onClose={onClose}
      />
    )
  }
  const vmIds = vms ? vms.map(idOf) : [...selection.ids]
  return (
    <BulkDialog
      action={action}
      target={{ vmIds }}
      title={w.bulk.chosen[action]}
      confirm={vms ? vms[0]!.name : w.bulk.count(vmIds.length)}
      onClose={onClose}
      {...(!vms && { onDone: selection.clear })}
    />
  )
}
