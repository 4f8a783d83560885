import { Alert } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { Form } from '../../ui/Form.tsx'
import { signInWords as w } from '../../messages/sign-in.ts'
import { EmailField, NewPasswordField, useEntrance } from './fields.tsx'
import { Frame } from './AuthLayout.tsx'
import { takeToken } from './link-token.ts'

export default function Welcome() {
  const [token] = useState(takeToken)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const welcome = useWrite(() => ask('POST', '/welcome', { token, email, password }), {
    inForm: true,
    after: useEntrance(),
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
        <EmailField value={email} onChange={setEmail} failure={welcome.error} autoFocus />
        <NewPasswordField value={password} onChange={setPassword} failure={welcome.error} />
      </Form>
    </Frame>
  )
}
