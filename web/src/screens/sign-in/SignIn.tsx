import { Alert, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { sessionQuery, setupQuery, type SignInResult } from '../../api/session.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Redirect } from '../../ui/Redirect.tsx'
import { signInMessages as w } from '../../words/words.ts'
import { CodeField, EmailField } from './fields.tsx'
import { AuthLayout } from './AuthLayout.tsx'
import { ProviderButtons } from './ProviderButtons.tsx'

export default function SignIn() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [totp, setTotp] = useState<string | null>(null)
  const { next = '/', ended } = useSearch({ strict: false })
  const session = useQuery(sessionQuery)
  const setup = useQuery(setupQuery)
  const signIn = useWrite(() => apiRequest<SignInResult>('POST', '/sign-in', { email, password, ...(totp && { totp }) }), {
    inForm: true,
    // A full page load clears the memory of any other session.
    onDone: ({ totpRequired }) => (totpRequired ? setTotp('') : location.assign(next)),
  })
  if (session.data) return <Redirect to={next} />
  const below = setup.data?.signUpOpen && (
    <>
      {w.noAccount} <TextLink to="/sign-up">{w.signUp}</TextLink>
    </>
  )
  return (
    <AuthLayout title={w.signIn} about={w.signInAbout} below={below}>
      {ended && (
        <Alert mt="md" color="tide">
          {w.ended}
        </Alert>
      )}
      {setup.data?.hasOwner === false && (
        <Alert mt="md" color="tide">
          {w.noOwner}
        </Alert>
      )}
      <Form onSubmit={() => signIn.mutate()} busy={signIn.isPending} error={signIn.error} submit={w.signIn} wide>
        <EmailField value={email} onChange={setEmail} autoFocus />
        <PasswordInput
          label={w.password}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {totp !== null && <CodeField value={totp} onChange={setTotp} />}
        <TextLink to="/forgot-password">{w.forgot}</TextLink>
      </Form>
      <ProviderButtons next={next} />
    </AuthLayout>
  )
}
