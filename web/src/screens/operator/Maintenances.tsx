import { Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorMaintenancesQuery, operatorRequest, type Host, type OperatorMaintenance } from '../../api/operator.ts'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status, type Tone } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'

const w = operatorMessages.maintenances
const TONES: Record<OperatorMaintenance['state'], Tone> = { SCHEDULED: 'held', IN_PROGRESS: 'busy', COMPLETED: 'idle', CANCELLED: 'idle' }

/** Those that have not ended; nothing is shown while there are none. */
export function Maintenances() {
  const [cancelling, setCancelling] = useState<OperatorMaintenance | null>(null)
  const { data = [] } = useQuery(operatorMaintenancesQuery)
  const rows = data.filter(({ state }) => state === 'SCHEDULED' || state === 'IN_PROGRESS')
  if (rows.length === 0) return null
  const columns: Column<OperatorMaintenance>[] = [
    {
      head: w.host,
      cell: ({ host, text }) => (
        <div>
          <strong>{host}</strong>
          <div className="muted">{text}</div>
        </div>
      ),
    },
    { head: w.state, cell: ({ state }) => <Status tone={TONES[state]}>{w.states[state]}</Status> },
    { head: w.startsAt, cell: ({ startsAt }) => <Time at={startsAt} /> },
    { head: w.endsAt, cell: ({ endsAt }) => <Time at={endsAt} /> },
    { head: w.accounts, cell: ({ accounts }) => accounts, right: true },
    { head: w.vms, cell: ({ vms }) => vms, right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (row) => <RowMenu name={w.name(row.host)} items={[{ label: w.cancel, onClick: () => setCancelling(row) }]} />,
    },
  ]
  return (
    <Card flush title={w.title}>
      <Table caption={w.title} columns={columns} rows={rows} rowKey={({ id }) => id} />
      {cancelling && <CancelMaintenance maintenance={cancelling} onClose={() => setCancelling(null)} />}
    </Card>
  )
}

function CancelMaintenance({ maintenance: { id, host, accounts }, onClose }: { maintenance: OperatorMaintenance; onClose: () => void }) {
  const write = useWrite(() => operatorRequest('DELETE', `/maintenances/${id}`), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.cancelled,
  })
  return (
    <ConfirmDialog title={w.cancelTitle(host)} submit={w.cancel} write={write} onClose={onClose} danger>
      {w.cancelAbout(accounts)}
    </ConfirmDialog>
  )
}

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
/** Of an input, which says it in the time zone of the browser. Empty text stays, for the server to refuse. */
const toIso = (local: string): string => (local === '' ? '' : new Date(local).toISOString())

export function AnnounceMaintenance({ host, onClose }: { host: Host; onClose: () => void }) {
  const [startsAt, setStartsAt] = useState('')
  const [endsAt, setEndsAt] = useState('')
  const [text, setText] = useState('')
  const body = () => ({ host: host.id, startsAt: toIso(startsAt), endsAt: toIso(endsAt), text })
  const write = useWrite(() => operatorRequest<{ accounts: number }>('POST', '/maintenances', body()), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: ({ accounts }) => w.announced(accounts),
    onDone: onClose,
  })
  return (
    <Dialog title={w.dialog(host.name)} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.open} onCancel={onClose}>
        <p>{w.about}</p>
        <TextInput
          label={w.startsAt}
          description={w.zone(zone)}
          type="datetime-local"
          value={startsAt}
          onChange={(event) => setStartsAt(event.currentTarget.value)}
          error={fieldError(write.error, 'startsAt')}
          data-autofocus
        />
        <TextInput
          label={w.endsAt}
          type="datetime-local"
          value={endsAt}
          onChange={(event) => setEndsAt(event.currentTarget.value)}
          error={fieldError(write.error, 'endsAt')}
        />
        <Textarea
          label={w.text}
          autosize
          minRows={3}
          maxLength={2000}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={fieldError(write.error, 'text')}
        />
      </Form>
    </Dialog>
  )
}
