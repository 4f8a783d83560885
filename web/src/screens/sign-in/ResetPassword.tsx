import { Alert } from '@mantine/core'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { signInMessages as w } from '../../words/words.ts'
import { NewPasswordField, useAfterSignIn } from './fields.tsx'
import { AuthLayout } from './AuthLayout.tsx'
import { readLinkToken } from './link-token.ts'

export default function ResetPassword() {
  const [token] = useState(readLinkToken)
  const [password, setPassword] = useState('')
  const reset = useWrite(() => apiRequest('POST', '/password-reset/complete', { token, password }), {
    inForm: true,
    successMessage: w.resetDone,
    onDone: useAfterSignIn(),
  })
  return (
    <AuthLayout title={w.resetTitle} about={w.resetAbout} below={<TextLink to="/sign-in">{w.back}</TextLink>}>
      {token === '' && (
        <Alert mt="md" color="red">
          {w.linkMissing}
        </Alert>
      )}
      <Form onSubmit={() => reset.mutate()} busy={reset.isPending} error={reset.error} submit={w.resetSubmit} disabled={token === ''} wide>
        <NewPasswordField value={password} onChange={setPassword} failure={reset.error} autoFocus />
      </Form>
    </AuthLayout>
  )
}
