import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { signInWords as w } from '../../messages/sign-in.ts'
import { EmailField, NewPasswordField, useEntrance } from './fields.tsx'
import { Frame } from './AuthLayout.tsx'

export default function SignUp() {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const signUp = useWrite(() => ask('POST', '/sign-up', { name, email, password }), {
    inForm: true,
    after: useEntrance(),
  })
  const below = (
    <>
      {w.haveAccount} <TextLink to="/sign-in">{w.signIn}</TextLink>
    </>
  )
  return (
    <Frame title={w.signUpTitle} below={below}>
      <Form onSubmit={() => signUp.mutate()} busy={signUp.isPending} error={signUp.error} submit={w.signUp} wide>
        <TextInput label={w.name} autoComplete="name" value={name} onChange={(event) => setName(event.currentTarget.value)} autoFocus />
        <EmailField value={email} onChange={setEmail} failure={signUp.error} />
        <NewPasswordField value={password} onChange={setPassword} failure={signUp.error} />
      </Form>
    </Frame>
  )
}
