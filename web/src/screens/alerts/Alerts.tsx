import type { Alert } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { alertMessages as w, commonMessages, labelMessages } from '../../words/words.ts'
import { alertsQuery } from '../../queries/alerts.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { LabelChips, LabelsDialog } from '../../ui/Labels.tsx'
import { usePaging } from '../../ui/paging.ts'
import { LABELS, ListPage, rowActions } from '../../ui/ListPage.tsx'
import type { Column } from '../../ui/Table.tsx'
import { AlertForm } from './AlertForm.tsx'

type Open = { what: 'create' } | { what: 'edit' | 'labels' | 'delete'; alert: Alert } | null

const conditionOf = ({ metric, comparison, threshold, forMinutes }: Alert): string =>
  w.condition(w.metrics[metric], w.comparisons[comparison], threshold, forMinutes)
const vmsOf = ({ metric, vmIds, labelSelector }: Alert): string =>
  metric === 'balanceDays' ? w.account : vmIds ? w.vmCount(vmIds.length) : (labelSelector ?? commonMessages.all)
const nowOf = ({ firing }: Alert): string => (firing.length === 0 ? w.quiet : w.firing(firing.map(({ vmName }) => vmName ?? w.account)))

export default function Alerts() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search } = usePaging()
  const alerts = useQuery(alertsQuery({ page: search.page, limit: search.limit, labelSelector: search.labels }))
  const columns: Column<Alert>[] = [
    {
      head: commonMessages.name,
      truncate: ({ name }) => name,
      cell: ({ name, labels }) => (
        <div>
          <strong>{name}</strong>
          <LabelChips labels={labels} />
        </div>
      ),
    },
    { head: w.when, cell: conditionOf },
    { head: w.vms, truncate: vmsOf, cell: vmsOf },
    { head: w.now, truncate: nowOf, cell: nowOf },
    rowActions((alert) => [
      { label: w.edit, onClick: () => setOpen({ what: 'edit', alert }) },
      { label: labelMessages.edit, onClick: () => setOpen({ what: 'labels', alert }) },
      { label: w.delete, onClick: () => setOpen({ what: 'delete', alert }), danger: true },
    ]),
  ]
  return (
    <ListPage
      words={w}
      icon="warning"
      list="alerts"
      create={{ label: w.create, onClick: () => setOpen({ what: 'create' }) }}
      of={alerts}
      columns={columns}
      filters={LABELS}
      all={() => berth.alerts.list({ labelSelector: search.labels })}
    >
      {open?.what === 'create' && <AlertForm onClose={close} />}
      {open?.what === 'edit' && <AlertForm alert={open.alert} onClose={close} />}
      {open?.what === 'labels' && (
        <LabelsDialog
          name={open.alert.name}
          labels={open.alert.labels}
          write={(labels) => berth.alerts.update(open.alert.id, { labels })}
          invalidates={['alerts']}
          onClose={close}
        />
      )}
      {open?.what === 'delete' && <DeleteAlert alert={open.alert} onClose={close} />}
    </ListPage>
  )
}

function DeleteAlert({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const write = useWrite(() => berth.alerts.delete(alert.id), {
    inForm: true,
    invalidates: ['alerts'],
    successMessage: w.deleted(alert.name),
  })
  return (
    <ConfirmDialog title={w.deleteTitle} submit={w.delete} write={write} onClose={onClose}>
      {w.deleteAbout(alert.name)}
    </ConfirmDialog>
  )
}
