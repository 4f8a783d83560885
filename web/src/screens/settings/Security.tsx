import { Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { sessionQuery } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card, Columns, Stack } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { settingsMessages } from '../../words/words.ts'
import { Identities } from './Identities.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'
import { SetUpTotp } from './SetUpTotp.tsx'

const w = settingsMessages.security

export const Security = () => (
  <Stack>
    <Columns>
      <Password />
      <TwoFactor />
    </Columns>
    <Identities />
  </Stack>
)

function Password() {
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNext] = useState('')
  const change = useWrite(() => apiRequest('POST', '/password', { currentPassword, newPassword }), {
    inForm: true,
    successMessage: w.changed,
    invalidates: ['sessions', 'session'],
    onDone: () => {
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

export function TwoFactor() {
  const [open, setOpen] = useState<'on' | 'off' | null>(null)
  const isOn = useQuery(sessionQuery).data?.user.totpEnabled ?? false
  const disable = useWrite<void, unknown>(() => apiRequest('DELETE', '/totp'), {
    inForm: true,
    successMessage: w.disabled,
    invalidates: ['session', 'totp'],
  })
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
        <ConfirmDialog title={w.disableTitle} submit={w.disable} write={disable} onClose={close}>
          {w.disableAbout}
        </ConfirmDialog>
      )}
    </Card>
  )
}
