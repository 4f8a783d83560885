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

export default function ConfirmSignUp() {
  const [token] = useState(readLinkToken)
  const [password, setPassword] = useState('')
  const confirm = useWrite(() => apiRequest('POST', '/sign-up/complete', { token, password }), { inForm: true, onDone: useAfterSignIn() })
  return (
    <AuthLayout title={w.confirmTitle} about={w.confirmAbout} below={<TextLink to="/sign-up">{w.signUpAgain}</TextLink>}>
      {token === '' && (
        <Alert mt="md" color="red">
          {w.mailedLinkMissing}
        </Alert>
      )}
      <Form onSubmit={() => confirm.mutate()} busy={confirm.isPending} error={confirm.error} submit={w.signUp} disabled={token === ''} wide>
        <NewPasswordField value={password} onChange={setPassword} failure={confirm.error} autoFocus />
      </Form>
    </AuthLayout>
  )
}
