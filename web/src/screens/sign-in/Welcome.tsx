import { Alert } from '@mantine/core'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { skin } from '../../skin.ts'
import { Form } from '../../ui/Form.tsx'
import { signInMessages as w } from '../../words/words.ts'
import { EmailField, NewPasswordField, useAfterSignIn } from './fields.tsx'
import { AuthLayout } from './AuthLayout.tsx'
import { readLinkToken } from './link-token.ts'

export default function Welcome() {
  const [token] = useState(readLinkToken)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const welcome = useWrite(() => apiRequest('POST', '/welcome', { token, email, password }), {
    inForm: true,
    onDone: useAfterSignIn(),
  })
  return (
    <AuthLayout title={w.welcomeTitle(skin.name)} about={w.welcomeAbout}>
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
        <EmailField value={email} onChange={setEmail} failure={welcome.error} description={w.welcomeEmailHint} autoFocus />
        <NewPasswordField value={password} onChange={setPassword} failure={welcome.error} />
      </Form>
    </AuthLayout>
  )
}
