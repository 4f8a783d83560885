import { PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api/ask.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { signInWords as w } from '../../words/sign-in.ts'
import { Frame } from './Frame.tsx'

export default function SignUp() {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const client = useQueryClient()
  const navigate = useNavigate()
  const signUp = useWrite(() => ask('POST', '/sign-up', { name, email, password }), {
    inForm: true,
    after: async () => {
      await client.resetQueries({ queryKey: ['session'] })
      await navigate({ to: '/', replace: true })
    },
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
        <TextInput
          label={w.email}
          type="email"
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(signUp.error, 'email')}
        />
        <PasswordInput
          label={w.password}
          description={w.passwordHint}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldError(signUp.error, 'password')}
        />
      </Form>
    </Frame>
  )
}
