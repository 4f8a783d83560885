import { Alert, PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { signInWords as w } from '../../words/sign-in.ts'
import { Frame } from './Frame.tsx'
import { takeToken } from './token.ts'

export default function ResetPassword() {
  const [token] = useState(takeToken)
  const [password, setPassword] = useState('')
  const client = useQueryClient()
  const navigate = useNavigate()
  const reset = useWrite(() => ask('POST', '/password-reset/complete', { token, password }), {
    inForm: true,
    says: w.resetDone,
    after: async () => {
      await client.resetQueries({ queryKey: ['session'] })
      await navigate({ to: '/', replace: true })
    },
  })
  return (
    <Frame title={w.resetTitle} about={w.resetAbout} below={<TextLink to="/sign-in">{w.back}</TextLink>}>
      {token === '' && (
        <Alert mt="md" color="red">
          {w.linkMissing}
        </Alert>
      )}
      <Form onSubmit={() => reset.mutate()} busy={reset.isPending} error={reset.error} submit={w.resetSubmit} disabled={token === ''} wide>
        <PasswordInput
          label={w.password}
          description={w.passwordHint}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldError(reset.error, 'password')}
          autoFocus
        />
      </Form>
    </Frame>
  )
}
