import { Alert, Button } from '@mantine/core'
import type { Firewall, FirewallUndo } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { serverTime } from '../../api/server-time.ts'
import { undoQuery } from '../../queries/network.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Row } from '../../ui/Page.tsx'
import { useNow } from '../../ui/Time.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import { withKeysOf } from './diff.ts'
import css from './firewalls.module.css'
import { fromApi } from './rule.ts'
import { RuleChanges } from './RuleChanges.tsx'

const invalidates = ['firewalls']
/** Later than that, an undo that nobody asked for has failed. */
const OVERDUE_MS = 30_000

interface Props {
  firewall: Firewall
  /** Of the rules that are shown beside: only those are confirmed. */
  shownVersion: string
}

/** For ten minutes after a change of the rules. Where they must be confirmed, until they are. */
export function Undo({ firewall, shownVersion }: Props) {
  const { id, undoUntil, confirmBy, pendingCount } = firewall
  const [isAsking, setIsAsking] = useState(false)
  const now = serverTime(useNow(undoUntil === null ? null : 1_000))
  const confirm = useWrite(() => berth.firewalls.confirm(id, { basedOn: shownVersion }), { invalidates, successMessage: w.confirmed })
  const until = confirmBy ?? undoUntil
  const left = until === null ? 0 : Date.parse(until) - now
  const isShown = until !== null && (left > 0 || confirmBy !== null)
  return (
    <>
      {isShown && (
        <Alert
          color={confirmBy ? 'yellow' : 'tide'}
          title={confirmBy ? w.unconfirmedTitle : w.undoTitle}
          styles={{ title: { color: 'var(--ink)' } }}
        >
          <div className={css['undo']}>
            <span>
              {left <= -OVERDUE_MS
                ? w.undoOverdue
                : confirmBy === null
                  ? w.undoAbout
                  : pendingCount > 0
                    ? w.pending(pendingCount)
                    : w.unconfirmed}{' '}
              {left > -OVERDUE_MS && <b className="numbers">{remaining(left)}</b>}
            </span>
            <Row>
              <Button variant="default" size="xs" onClick={() => setIsAsking(true)}>
                {w.undo}
              </Button>
              {confirmBy && (
                <Button size="xs" loading={confirm.isPending} disabled={pendingCount > 0} onClick={() => confirm.mutate()}>
                  {w.confirm}
                </Button>
              )}
            </Row>
          </div>
        </Alert>
      )}
      {isAsking && <UndoDialog firewall={firewall} onClose={() => setIsAsking(false)} />}
    </>
  )
}

function UndoDialog({ firewall, onClose }: { firewall: Firewall; onClose: () => void }) {
  const query = useQuery(undoQuery(firewall.id))
  const undo = useWrite(
    ({ rulesVersion, restoresVersion }: FirewallUndo) => berth.firewalls.undo(firewall.id, { basedOn: rulesVersion, restoresVersion }),
    {
      inForm: true,
      invalidates,
      successMessage: w.undone,
      onDone: onClose,
    },
  )
  return (
    <Dialog title={w.undoDialogTitle} onClose={onClose} size="lg">
      <Form
        onSubmit={() => query.data && undo.mutate(query.data)}
        busy={undo.isPending}
        error={undo.error}
        submit={w.undo}
        disabled={!query.data}
        onCancel={onClose}
      >
        <Loaded of={query} lines={3}>
          {({ current, rules }) => {
            const before = current.map(fromApi)
            return <RuleChanges firewall={firewall} before={before} after={withKeysOf(before, rules.map(fromApi))} />
          }}
        </Loaded>
      </Form>
    </Dialog>
  )
}

function remaining(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
