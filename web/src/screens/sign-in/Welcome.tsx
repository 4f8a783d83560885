import { Alert, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { signInWords as w } from '../../words/sign-in.ts'
import { Frame } from './Frame.tsx'
import { takeToken } from './token.ts'

export default function Welcome() {
  const [token] = useState(takeToken)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const client = useQueryClient()
  const navigate = useNavigate()
  const welcome = useWrite(() => ask('POST', '/welcome', { token, email, password }), {
    inForm: true,
    after: async () => {
      await client.resetQueries({ queryKey: ['session'] })
      await navigate({ to: '/', replace: true })
    },
  })
  return (
    <Frame title={w.welcomeTitle} about={w.welcomeAbout}>
      {token === '' && (
        <Alert mt="md" color="red">
          {w.linkMissing}
        </Alert>
      )}
      <Form
        onSubmit={() => welcome.mutate()}
        busy={welcome.isPending}
        error={welcome.error}
        submit={w.welcomeSubmit}
        disabled={token === ''}
        wide
      >
        <TextInput
          label={w.email}
          type="email"
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(welcome.error, 'email')}
          autoFocus
        />
        <PasswordInput
          label={w.password}
          description={w.passwordHint}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldError(welcome.error, 'password')}
        />
      </Form>
    </Frame>
  )
}
