import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { withReauthentication } from '../../api/reauthenticate.ts'
import type { RecoveryCodes, TotpSetup } from '../../api/session.ts'
import { Code } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Loaded, Loading } from '../../ui/AsyncState.tsx'
import { settingsMessages } from '../../words/words.ts'
import { ShowCodes } from './RecoveryCodes.tsx'
import css from './settings.module.css'

const QrCode = lazy(() => import('../../ui/QrCode.tsx'))

const w = settingsMessages.security

/** Shows the secret, verifies a code, then shows the recovery codes. */
export function SetUpTotp({ onClose }: { onClose: () => void }) {
  const [code, setCode] = useState('')
  const setup = useQuery({
    queryKey: ['totp-setup'],
    queryFn: () => withReauthentication(() => apiRequest<TotpSetup>('POST', '/totp')),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const confirm = useWrite(() => apiRequest<RecoveryCodes>('POST', '/totp/confirm', { code }), {
    inForm: true,
    successMessage: w.enabled,
    invalidates: ['session', 'totp'],
  })
  if (confirm.data) return <ShowCodes codes={confirm.data.recoveryCodes} onClose={onClose} />
  return (
    <Dialog title={w.setUpTitle} onClose={onClose}>
      <Loaded of={setup}>
        {({ secret, uri }) => (
          <Form onSubmit={() => confirm.mutate()} busy={confirm.isPending} error={confirm.error} submit={w.confirm} onCancel={onClose}>
            <p>{w.setUpAbout}</p>
            <div className={css['qr']}>
              <Suspense fallback={<Loading />}>
                <QrCode text={uri} label={w.qr} />
              </Suspense>
            </div>
            <p className="muted">{w.byHand}</p>
            <Code text={secret} what={w.secret} />
            <a href={uri}>{w.uri}</a>
            <TextInput
              label={w.code}
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={6}
              value={code}
              onChange={(event) => setCode(event.currentTarget.value)}
              data-autofocus
            />
          </Form>
        )}
      </Loaded>
    </Dialog>
  )
}
