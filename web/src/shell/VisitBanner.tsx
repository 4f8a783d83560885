// Above every screen, while an operator is in the account of a customer.
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { switchAccount } from '../api/account.ts'
import { useWrite } from '../api/client.ts'
import { fieldError } from '../api/errors.ts'
import { apiRequest } from '../api/request.ts'
import type { Session } from '../api/session.ts'
import { Dialog } from '../ui/Dialogs.tsx'
import { Form } from '../ui/Form.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Status } from '../ui/Status.tsx'
import { Time } from '../ui/Time.tsx'
import { visitMessages as w } from '../words/words.ts'
import css from './visit-banner.module.css'

export default function VisitBanner({ visit }: { visit: NonNullable<Session['visit']> }) {
  const [allows, setAllows] = useState(false)
  const leave = useWrite(() => apiRequest('DELETE', '/visit'), { onDone: () => switchAccount(visit.homeId) })
  return (
    <section className={css['banner']} aria-label={w.banner(visit.email)}>
      <Icon name="users" size={18} />
      <strong className={css['who']} title={visit.email}>
        {w.banner(visit.email)}
      </strong>
      <Status tone={visit.canWrite ? 'bad' : 'held'}>{visit.canWrite ? w.writes : w.reads}</Status>
      <span className={css['until']}>
        {w.until} <Time at={visit.endsAt} />
      </span>
      <span className={css['buttons']}>
        {!visit.canWrite && (
          <Button size="xs" variant="default" onClick={() => setAllows(true)}>
            {w.allow}
          </Button>
        )}
        <Button size="xs" loading={leave.isPending} onClick={() => leave.mutate()}>
          {w.leave}
        </Button>
      </span>
      {allows && <AllowChanges onClose={() => setAllows(false)} />}
    </section>
  )
}

function AllowChanges({ onClose }: { onClose: () => void }) {
  const [reason, setReason] = useState('')
  const write = useWrite(() => apiRequest('POST', '/visit/changes', { reason }), {
    inForm: true,
    invalidates: ['session'],
    successMessage: w.allowed,
    onDone: onClose,
  })
  return (
    <Dialog title={w.allowTitle} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.allow} onCancel={onClose} danger>
        <p>{w.allowAbout}</p>
        <TextInput
          label={w.reason}
          description={w.reasonHint}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={fieldError(write.error, 'reason')}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
