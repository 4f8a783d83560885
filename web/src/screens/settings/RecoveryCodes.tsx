import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { totpQuery, type RecoveryCodes as Codes } from '../../api/session.ts'
import { ConfirmDialog, SecretDialog } from '../../ui/Dialogs.tsx'
import { Row } from '../../ui/Page.tsx'
import { settingsMessages } from '../../words/words.ts'

const w = settingsMessages.security

/** Number of unused recovery codes, with a button to generate new ones. */
export function RecoveryCodes() {
  const [asking, setAsking] = useState(false)
  const [codes, setCodes] = useState<string[] | null>(null)
  const left = useQuery(totpQuery).data?.recoveryCodesLeft
  const renew = useWrite<void, Codes>(() => apiRequest('POST', '/totp/recovery-codes'), {
    inForm: true,
    invalidates: ['totp'],
    onDone: ({ recoveryCodes }) => setCodes(recoveryCodes),
  })
  return (
    <Row gap={16}>
      {left !== undefined && <span className={left < 3 ? undefined : 'muted'}>{w.codesLeft(left)}</span>}
      <Button variant="default" size="xs" onClick={() => setAsking(true)}>
        {w.newCodes}
      </Button>
      {asking && (
        <ConfirmDialog title={w.newCodesTitle} submit={w.newCodes} write={renew} onClose={() => setAsking(false)}>
          {w.newCodesAbout}
        </ConfirmDialog>
      )}
      {codes && <ShowCodes codes={codes} onClose={() => setCodes(null)} />}
    </Row>
  )
}

export const ShowCodes = ({ codes, onClose }: { codes: string[]; onClose: () => void }) => (
  <SecretDialog label={w.codes} secret={codes.join('\n')} hint={<p className="muted">{w.codesAbout}</p>} onClose={onClose} />
)
