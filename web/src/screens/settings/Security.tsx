import { Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { sessionQuery } from '../../api/session.ts'
import { Confirm } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card, Columns, Stack } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { settingsWords } from '../../messages/settings.ts'
import { RecoveryCodes } from './RecoveryCodes.tsx'
import { SetUpTotp } from './SetUpTotp.tsx'

const w = settingsWords.security

export const Security = () => (
  <Columns>
    <Password />
    <SecondFactor />
  </Columns>
)

function Password() {
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNext] = useState('')
  const change = useWrite(() => ask('POST', '/password', { currentPassword, newPassword }), {
    inForm: true,
    says: w.changed,
    changes: ['sessions', 'session'],
    after: () => {
      setCurrent('')
      setNext('')
    },
  })
  return (
    <Card title={w.password} about={w.passwordAbout}>
      <Form
        onSubmit={() => change.mutate()}
        busy={change.isPending}
        error={change.error}
        submit={w.change}
        disabled={currentPassword === '' || newPassword === ''}
      >
        <PasswordInput
          label={w.current}
          autoComplete="current-password"
          value={currentPassword}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <PasswordInput
          label={w.next}
          description={w.nextHint}
          autoComplete="new-password"
          value={newPassword}
          onChange={(event) => setNext(event.currentTarget.value)}
          error={fieldError(change.error, 'newPassword')}
        />
      </Form>
    </Card>
  )
}

function SecondFactor() {
  const [open, setOpen] = useState<'on' | 'off' | null>(null)
  const isOn = useQuery(sessionQuery).data?.user.totpEnabled ?? false
  const disable = useWrite<void, unknown>(() => ask('DELETE', '/totp'), { inForm: true, says: w.disabled, changes: ['session', 'totp'] })
  const close = (): void => setOpen(null)
  return (
    <Card
      title={w.totp}
      about={w.totpAbout}
      actions={
        <Button variant={isOn ? 'default' : 'filled'} size="xs" onClick={() => setOpen(isOn ? 'off' : 'on')}>
          {isOn ? w.disable : w.enable}
        </Button>
      }
    >
      <Stack gap={14}>
        <Status tone={isOn ? 'good' : 'held'}>{isOn ? w.totpOn : w.totpOff}</Status>
        {isOn && <RecoveryCodes />}
      </Stack>
      {open === 'on' && <SetUpTotp onClose={close} />}
      {open === 'off' && (
        <Confirm title={w.disableTitle} submit={w.disable} write={disable} onClose={close}>
          {w.disableAbout}
        </Confirm>
      )}
    </Card>
  )
}
