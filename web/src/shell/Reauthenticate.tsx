import { Modal, PasswordInput, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { apiRequest } from '../api/request.ts'
import { useWrite } from '../api/client.ts'
import { setPasswordPrompt } from '../api/reauthenticate.ts'
import { Form } from '../ui/Form.tsx'
import { commonMessages as w } from '../messages/common.ts'

export function Reauthenticate({ totpEnabled }: { totpEnabled: boolean }) {
  const answer = useRef<((given: boolean) => void) | null>(null)
  const [opened, setOpened] = useState(false)
  const [password, setPassword] = useState('')
  const [totp, setTotp] = useState('')
  const close = (given: boolean): void => {
    setOpened(false)
    setPassword('')
    setTotp('')
    answer.current?.(given)
    answer.current = null
  }
  useEffect(
    () =>
      setPasswordPrompt(
        () =>
          new Promise((resolve) => {
            answer.current = resolve
            setOpened(true)
          }),
      ),
    [],
  )
  const write = useWrite(() => apiRequest('POST', '/reauthenticate', { password, ...(totp && { totp }) }), {
    onDone: () => close(true),
    inForm: true,
  })
  return (
    <Modal opened={opened} onClose={() => close(false)} title={w.reauthTitle} zIndex={350} closeButtonProps={{ 'aria-label': w.close }}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.confirm} onCancel={() => close(false)}>
        <p className="muted">{w.reauthAbout}</p>
        <PasswordInput
          label={w.password}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="current-password"
          data-autofocus
        />
        {totpEnabled && (
          <TextInput
            label={w.totpCode}
            value={totp}
            onChange={(event) => setTotp(event.currentTarget.value.trim())}
            spellCheck={false}
            autoComplete="one-time-code"
          />
        )}
      </Form>
    </Modal>
  )
}
