import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { drainPlanQuery, drainQuery, operatorRequest, type Drain, type DrainPlan, type Host } from '../../api/operator.ts'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatDuration } from '../../ui/format.ts'
import { Stack } from '../../ui/Page.tsx'

const w = operatorMessages.drain

interface Props {
  host: Host
  onClose: () => void
}

/** The plan first; while a drain runs, how far it is. */
export function DrainDialog({ host, onClose }: Props) {
  return (
    <Dialog title={w.title(host.name)} onClose={onClose} size="lg">
      {host.draining ? <Progress host={host} onClose={onClose} /> : <StartDrain host={host} onClose={onClose} />}
    </Dialog>
  )
}

function StartDrain({ host, onClose }: Props) {
  const plan = useQuery(drainPlanQuery(host.id))
  const [order, setOrder] = useState({ partial: false, stopOthers: false })
  const start = useWrite(() => operatorRequest('POST', `/hosts/${host.id}/drain`, order), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.started,
    onDone: onClose,
  })
  const stuck = plan.data?.stays.some(({ isTemporary }) => !isTemporary) ?? false
  return (
    <Form
      onSubmit={() => start.mutate()}
      busy={start.isPending}
      error={start.error}
      submit={w.open}
      onCancel={onClose}
      disabled={!plan.data || (stuck && !order.partial)}
    >
      <p className="muted">{w.about}</p>
      <Loaded of={plan} lines={3}>
        {(found) => <Plan plan={found} />}
      </Loaded>
      {stuck && (
        <Checkbox
          label={w.partial}
          checked={order.partial}
          onChange={({ currentTarget: { checked } }) => setOrder({ ...order, partial: checked })}
        />
      )}
      <Checkbox
        label={w.stopOthers}
        description={w.stopOthersAbout}
        checked={order.stopOthers}
        onChange={({ currentTarget: { checked } }) => setOrder({ ...order, stopOthers: checked })}
      />
    </Form>
  )
}

function Plan({ plan: { moves, stays, seconds, backups } }: { plan: DrainPlan }) {
  const lines = [
    ...moves.map(({ vmId, name, to, seconds: each, note }) => ({ vmId, name, about: w.move(to, formatDuration(1000 * each)), note })),
    ...stays.map(({ vmId, name, reason, isTemporary }) => ({ vmId, name, about: isTemporary ? w.waits(reason) : w.stays(reason) })),
  ]
  if (lines.length === 0) return <p>{w.empty}</p>
  return (
    <Stack gap={10}>
      <Vms lines={lines} />
      {moves.length > 0 && <p>{w.total(formatDuration(1000 * seconds))}</p>}
      {backups > 0 && <p className="muted">{w.backups(backups)}</p>}
    </Stack>
  )
}

interface Line {
  vmId: string
  name: string
  about: string
  note?: string | null
}

const Vms = ({ lines }: { lines: Line[] }) => (
  <ul style={{ listStyle: 'none', margin: 0, padding: 0, maxHeight: '40vh', overflowY: 'auto' }}>
    {lines.map(({ vmId, name, about, note }) => (
      <li key={vmId} style={{ padding: '6px 0', overflowWrap: 'anywhere' }}>
        <strong>{name}</strong>
        <div>{about}</div>
        {note && <div className="muted">{note}</div>}
      </li>
    ))}
  </ul>
)

function Progress({ host, onClose }: Props) {
  const drain = useQuery(drainQuery(host.id))
  const cancel = useWrite(() => operatorRequest('DELETE', `/hosts/${host.id}/drain`), {
    invalidates: ['operator'],
    successMessage: w.cancelled,
    onDone: onClose,
  })
  return (
    <Loaded of={drain} lines={3}>
      {(found) =>
        found ? (
          <Stack gap={14}>
            <p>
              <strong>{w.statuses[found.status]}</strong> · {w.counts(found.moved.length, found.vms)}
            </p>
            <Moves drain={found} />
            <div style={{ display: 'flex', gap: 10, justifyContent: 'flex-end' }}>
              {found.status === 'RUNNING' && (
                <Button variant="default" onClick={() => cancel.mutate()} loading={cancel.isPending}>
                  {w.cancel}
                </Button>
              )}
              <Button onClick={onClose}>{commonMessages.close}</Button>
            </div>
          </Stack>
        ) : (
          <p>{w.never}</p>
        )
      }
    </Loaded>
  )
}

function Moves({ drain: { moved, moving, remaining } }: { drain: Drain }) {
  return (
    <Vms
      lines={[
        ...moving.map(({ vmId, name, to }) => ({ vmId, name, about: w.moving(to) })),
        ...remaining.map(({ vmId, name, reason }) => ({ vmId, name, about: w.waits(reason) })),
        ...moved.map(({ vmId, name, to, seconds }) => ({
          vmId,
          name,
          about: w.moved(to, seconds === null ? null : formatDuration(1000 * seconds)),
        })),
      ]}
    />
  )
}
