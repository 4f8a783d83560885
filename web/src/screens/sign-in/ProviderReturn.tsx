// Where identity providers send the browser back to.
import { useEffect, useRef, useState } from 'react'
import { chooseAccount } from '../../api/account.ts'
import { completeErrand, findReturn, type Errand } from '../../api/identities.ts'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import type { Session, SignInResult } from '../../api/session.ts'
import { ErrorAlert, Form } from '../../ui/Form.tsx'
import { Loading } from '../../ui/AsyncState.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Redirect } from '../../ui/Redirect.tsx'
import { signInMessages as w } from '../../words/words.ts'
import { CodeField } from './fields.tsx'
import { AuthLayout } from './AuthLayout.tsx'

type Result = SignInResult & Partial<Session>

/** A full page load clears the memory of any other session. */
function goOn({ purpose, next, invitation }: Errand, { accounts = [] }: Result): void {
  const joined = invitation && accounts.some(({ id }) => id === invitation.accountId)
  if (joined) chooseAccount(invitation.accountId)
  if (purpose === 'link') location.replace('/settings?tab=security')
  else location.replace(invitation && !joined ? '/join' : next)
}

export default function ProviderReturn() {
  const returned = findReturn()
  if (!returned) return <Redirect to="/sign-in" />
  return <Complete {...returned} />
}

function Complete({ errand, response }: { errand: Errand; response: string }) {
  const [result, setResult] = useState<Result | null>(null)
  const arrive = (answer: Result): void => (answer.totpRequired ? setResult(answer) : goOn(errand, answer))
  const { mutate, error } = useWrite(() => completeErrand<Result>(errand, response), { inForm: true, onDone: arrive })
  const isSent = useRef(false) // it is used up by the first request
  useEffect(() => {
    if (isSent.current) return
    isSent.current = true
    mutate()
  }, [mutate])
  if (result?.totpRequired) return <GiveCode errand={errand} />
  const back =
    errand.purpose === 'signIn' ? <TextLink to="/sign-in">{w.back}</TextLink> : <TextLink to={errand.next}>{w.backToWork}</TextLink>
  return (
    <AuthLayout title={error ? w.returnFailed : w.returning} below={error && back}>
      {error ? <ErrorAlert error={error} /> : <Loading />}
    </AuthLayout>
  )
}

function GiveCode({ errand }: { errand: Errand }) {
  const [totp, setTotp] = useState('')
  const give = useWrite(() => apiRequest<Result>('POST', '/sign-in/with/code', { totp }), {
    inForm: true,
    onDone: (answer) => goOn(errand, answer),
  })
  return (
    <AuthLayout title={w.signIn} about={w.codeAfterProvider} below={<TextLink to="/sign-in">{w.back}</TextLink>}>
      <Form onSubmit={() => give.mutate()} busy={give.isPending} error={give.error} submit={w.signIn} wide>
        <CodeField value={totp} onChange={setTotp} />
      </Form>
    </AuthLayout>
  )
}
