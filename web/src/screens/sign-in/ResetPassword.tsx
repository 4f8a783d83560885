import { Alert } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { signInWords as w } from '../../messages/sign-in.ts'
import { NewPasswordField, useEntrance } from './fields.tsx'
import { Frame } from './AuthLayout.tsx'
import { takeToken } from './link-token.ts'

export default function ResetPassword() {
  const [token] = useState(takeToken)
  const [password, setPassword] = useState('')
  const reset = useWrite(() => ask('POST', '/password-reset/complete', { token, password }), {
    inForm: true,
    says: w.resetDone,
    after: useEntrance(),
  })
  return (
    <Frame title={w.resetTitle} about={w.resetAbout} below={<TextLink to="/sign-in">{w.back}</TextLink>}>
      {token === '' && (
        <Alert mt="md" color="red">
          {w.linkMissing}
        </Alert>
      )}
      <Form onSubmit={() => reset.mutate()} busy={reset.isPending} error={reset.error} submit={w.resetSubmit} disabled={token === ''} wide>
        <NewPasswordField value={password} onChange={setPassword} failure={reset.error} autoFocus />
      </Form>
    </Frame>
  )
}
