import { Alert, Button } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { Row } from '../../ui/Page.tsx'
import { useNow } from '../../ui/Time.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import css from './firewalls.module.css'

const invalidates = ['firewalls']

/** For ten minutes after a change of the rules. Where they must be confirmed, until they are. */
export function Undo({ firewall: { id, undoUntil, confirmBy } }: { firewall: Firewall }) {
  const now = useNow(undoUntil === null ? null : 1_000)
  const undo = useWrite(() => berth.firewalls.undo(id), { invalidates, successMessage: w.undone })
  const confirm = useWrite(() => berth.firewalls.confirm(id), { invalidates, successMessage: w.confirmed })
  const until = confirmBy ?? undoUntil
  const left = until === null ? 0 : Date.parse(until) - now
  if (until === null || (left <= 0 && confirmBy === null)) return null
  return (
    <Alert color={confirmBy ? 'yellow' : 'tide'} title={confirmBy ? w.unconfirmedTitle : w.undoTitle}>
      <div className={css['undo']}>
        <span>
          {confirmBy ? w.unconfirmed : w.undoAbout} <b className="numbers">{remaining(left)}</b>
        </span>
        <Row>
          <Button variant="default" size="xs" loading={undo.isPending} onClick={() => undo.mutate()}>
            {w.undo}
          </Button>
          {confirmBy && (
            <Button size="xs" loading={confirm.isPending} onClick={() => confirm.mutate()}>
              {w.confirm}
            </Button>
          )}
        </Row>
      </div>
    </Alert>
  )
}

function remaining(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
