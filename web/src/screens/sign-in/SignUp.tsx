import { Alert, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { setupQuery } from '../../api/session.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { signInMessages as w } from '../../words/words.ts'
import { EmailField, NewPasswordField, useAfterSignIn } from './fields.tsx'
import { AuthLayout } from './AuthLayout.tsx'
import { ProviderButtons } from './ProviderButtons.tsx'

export default function SignUp() {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const setup = useQuery(setupQuery)
  const isMailed = setup.data?.canSendMail === true
  const enter = useAfterSignIn()
  const send = () => apiRequest<{ mailed?: true }>('POST', '/sign-up', isMailed ? { name, email } : { name, email, password })
  const signUp = useWrite(send, { inForm: true, onDone: ({ mailed }) => void (mailed ?? enter()) })
  const below = (
    <>
      {w.haveAccount} <TextLink to="/sign-in">{w.signIn}</TextLink>
    </>
  )
  return (
    <AuthLayout title={w.signUpTitle} below={below}>
      {signUp.data?.mailed ? (
        <Alert mt="md">{w.signUpMailed}</Alert>
      ) : (
        <Form onSubmit={() => signUp.mutate()} busy={signUp.isPending} error={signUp.error} submit={w.signUp} wide>
          <TextInput label={w.name} autoComplete="name" value={name} onChange={(event) => setName(event.currentTarget.value)} autoFocus />
          <EmailField value={email} onChange={setEmail} failure={signUp.error} />
          {!isMailed && <NewPasswordField value={password} onChange={setPassword} failure={signUp.error} />}
        </Form>
      )}
      {!signUp.data?.mailed && <ProviderButtons />}
    </AuthLayout>
  )
}
