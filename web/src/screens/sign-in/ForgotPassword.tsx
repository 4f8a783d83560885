import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { setupQuery } from '../../api/session.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { signInMessages as w } from '../../words/words.ts'
import { EmailField } from './fields.tsx'
import { AuthLayout } from './AuthLayout.tsx'

export default function ForgotPassword() {
  const [email, setEmail] = useState('')
  const send = useWrite(() => apiRequest('POST', '/password-reset', { email }), { inForm: true })
  const setup = useQuery(setupQuery)
  return (
    <AuthLayout title={w.forgotTitle} about={w.forgotAbout} below={<TextLink to="/sign-in">{w.back}</TextLink>}>
      {setup.data?.canSendMail === false && (
        <Alert mt="md" color="yellow">
          {w.noEmail}
        </Alert>
      )}
      {send.isSuccess ? (
        <Alert mt="md">{w.forgotDone}</Alert>
      ) : (
        <Form onSubmit={() => send.mutate()} busy={send.isPending} error={send.error} submit={w.forgotSubmit} wide>
          <EmailField value={email} onChange={setEmail} autoFocus />
        </Form>
      )}
    </AuthLayout>
  )
}
