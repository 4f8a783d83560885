// Hosts that are being added: their tokens can be revoked until they are there.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { enrollmentsQuery, operatorRequest, type HostEnrollment } from '../../api/operator.ts'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Card } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, hostMessages } from '../../words/words.ts'
import { EnrollmentSteps } from './EnrollmentSteps.tsx'

const w = hostMessages.add

export function Enrollments() {
  const [open, setOpen] = useState<{ what: 'show' | 'revoke'; enrollment: HostEnrollment } | null>(null)
  const enrollments = (useQuery(enrollmentsQuery).data ?? []).filter(({ state }) => state === 'WAITING' || state === 'FETCHED')
  const columns: Column<HostEnrollment>[] = [
    { head: w.name, cell: ({ name }) => <strong>{name}</strong> },
    { head: w.address, cell: ({ address }) => <code>{address}</code> },
    { head: w.region, cell: ({ region }) => region },
    {
      head: w.state,
      cell: ({ state, checks }) =>
        checks.some(({ status }) => status === 'failure') ? (
          <Status tone="bad">{w.failing}</Status>
        ) : (
          <Status tone="busy">{state === 'WAITING' ? w.waits : w.isChecked}</Status>
        ),
    },
    { head: w.ends, cell: ({ endsAt }) => <Time at={endsAt} />, right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (enrollment) => (
        <RowMenu
          name={enrollment.name}
          items={[
            { label: w.showSteps, onClick: () => setOpen({ what: 'show', enrollment }) },
            { label: w.revoke, onClick: () => setOpen({ what: 'revoke', enrollment }), danger: true },
          ]}
        />
      ),
    },
  ]
  return (
    <>
      {enrollments.length > 0 && (
        <Card title={w.title} flush>
          <Table caption={w.title} columns={columns} rows={enrollments} rowKey={({ id }) => id} />
        </Card>
      )}
      {open?.what === 'show' && (
        <Dialog title={w.adding(open.enrollment.name)} onClose={() => setOpen(null)} size="lg">
          <EnrollmentSteps enrollment={open.enrollment} />
        </Dialog>
      )}
      {open?.what === 'revoke' && <Revoke enrollment={open.enrollment} onClose={() => setOpen(null)} />}
    </>
  )
}

function Revoke({ enrollment: { id, name }, onClose }: { enrollment: HostEnrollment; onClose: () => void }) {
  const write = useWrite(() => operatorRequest('DELETE', `/host-enrollments/${id}`), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.revoked,
  })
  return (
    <ConfirmDialog title={w.revokeTitle(name)} submit={w.revoke} write={write} onClose={onClose}>
      {w.revokeAbout}
    </ConfirmDialog>
  )
}
