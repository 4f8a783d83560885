// Accepts an invitation: by who is signed in with its address, or by signing up with it.
import { Alert, Button, TextInput } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { chooseAccount, switchAccount } from '../../api/account.ts'
import { useWrite } from '../../api/client.ts'
import { apiRequest } from '../../api/request.ts'
import { sessionQuery } from '../../api/session.ts'
import { memberMessages as w, signInMessages } from '../../words/words.ts'
import { ErrorAlert, Form } from '../../ui/Form.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Stack } from '../../ui/Page.tsx'
import { AuthLayout } from './AuthLayout.tsx'
import { ProviderButtons } from './ProviderButtons.tsx'
import { NewPasswordField } from './fields.tsx'
import { readLinkToken } from './link-token.ts'

interface Preview {
  account: { id: string; name: string }
  email: string
  role: keyof typeof w.roles
  invitedBy: string
  canRegister: boolean
}

const previewQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: () => apiRequest<Preview>('POST', '/invitations/preview', { token }),
    enabled: token !== '',
    staleTime: Infinity,
  })

export default function Join() {
  const [token] = useState(readLinkToken)
  const preview = useQuery(previewQuery(token))
  const session = useQuery(sessionQuery)
  const about = preview.data && w.joinAbout(preview.data.account.name, w.roles[preview.data.role], preview.data.invitedBy)
  return (
    <AuthLayout title={w.join} about={about}>
      {token === '' ? (
        <Alert mt="md" color="red">
          {signInMessages.mailedLinkMissing}
        </Alert>
      ) : (
        <Loaded of={preview}>
          {(data) =>
            session.data ? (
              <Accept token={token} preview={data} email={session.data.user.email} />
            ) : (
              <Register token={token} preview={data} />
            )
          }
        </Loaded>
      )}
    </AuthLayout>
  )
}

function Accept({ token, preview, email }: { token: string; preview: Preview; email: string }) {
  const accept = useWrite(() => apiRequest('POST', '/invitations/accept', { token }), {
    inForm: true,
    onDone: () => switchAccount(preview.account.id),
  })
  if (preview.email.toLowerCase() !== email.toLowerCase()) return <Alert mt="md">{w.joinOther(preview.email, email)}</Alert>
  return (
    <Stack>
      <ErrorAlert error={accept.error} />
      <Button fullWidth loading={accept.isPending} onClick={() => accept.mutate()}>
        {w.joinAs(email)}
      </Button>
    </Stack>
  )
}

function Register({ token, preview }: { token: string; preview: Preview }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const register = useWrite(() => apiRequest('POST', '/invitations/register', { token, password, ...(name && { name }) }), {
    inForm: true,
    onDone: () => {
      chooseAccount(preview.account.id)
      location.assign('/') // a full page load clears the memory of any other session
    },
  })
  const signIn = (
    <p>
      {w.joinHave}{' '}
      <TextLink to="/sign-in" search={{ next: '/join' }} underline="always">
        {w.joinSignIn}
      </TextLink>
    </p>
  )
  const providers = <ProviderButtons invitation={{ token, accountId: preview.account.id }} />
  if (!preview.canRegister)
    return (
      <Stack>
        {signIn}
        <p className="muted">{w.joinClosed(preview.email)}</p>
        {providers}
      </Stack>
    )
  return (
    <Stack>
      <Form onSubmit={() => register.mutate()} busy={register.isPending} error={register.error} submit={signInMessages.signUp} wide>
        <p className="muted">{w.joinRegister}</p>
        <TextInput label={signInMessages.email} value={preview.email} readOnly autoComplete="username" />
        <TextInput
          label={signInMessages.name}
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={100}
        />
        <NewPasswordField value={password} onChange={setPassword} failure={register.error} autoFocus />
      </Form>
      {signIn}
      {providers}
    </Stack>
  )
}
