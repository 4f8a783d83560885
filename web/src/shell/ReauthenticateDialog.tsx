import { Button, Modal, PasswordInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { goToProvider, identitiesQuery } from '../api/identities.ts'
import { apiRequest } from '../api/request.ts'
import { ErrorAlert, Form } from '../ui/Form.tsx'
import { Stack } from '../ui/Page.tsx'
import { commonMessages as w } from '../words/words.ts'

interface Props {
  totpEnabled: boolean
  onClose: (given: boolean) => void
}

export default function ReauthenticateDialog({ totpEnabled, onClose }: Props) {
  const [password, setPassword] = useState('')
  const [totp, setTotp] = useState('')
  const write = useWrite(() => apiRequest('POST', '/reauthenticate', { password, ...(totp && { totp }) }), {
    onDone: () => onClose(true),
    inForm: true,
  })
  const { data } = useQuery(identitiesQuery)
  const hasPassword = data?.hasPassword ?? true
  const go = useWrite(
    (provider: string) => goToProvider({ purpose: 'reauthenticate', provider, next: location.pathname + location.search }, totp),
    { inForm: true },
  )
  const code = totpEnabled && (
    <TextInput
      label={w.totpCode}
      value={totp}
      onChange={(event) => setTotp(event.currentTarget.value.trim())}
      spellCheck={false}
      autoComplete="one-time-code"
    />
  )
  const providers = data?.identities.map(({ provider: { name, title } }) => (
    <Button key={name} variant="default" fullWidth loading={go.isPending && go.variables === name} onClick={() => go.mutate(name)}>
      {w.reauthWith(title)}
    </Button>
  ))
  return (
    <Modal
      opened
      onClose={() => onClose(false)}
      title={hasPassword ? w.reauthTitle : w.reauthWithTitle}
      zIndex={350}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <Stack gap={14}>
        {hasPassword ? (
          <Form
            onSubmit={() => write.mutate()}
            busy={write.isPending}
            error={write.error}
            submit={w.confirm}
            onCancel={() => onClose(false)}
          >
            <p className="muted">{w.reauthAbout}</p>
            <PasswordInput
              label={w.password}
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              autoComplete="current-password"
              data-autofocus
            />
            {code}
          </Form>
        ) : (
          code
        )}
        {providers && providers.length > 0 && <p className="muted">{w.reauthWithAbout}</p>}
        <ErrorAlert error={go.error} />
        {providers}
      </Stack>
    </Modal>
  )
}
