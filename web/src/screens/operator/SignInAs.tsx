import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { visitAccount } from '../../api/account.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRequest } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { visitMessages as w } from '../../words/words.ts'

export function SignInAs({ accountId, email, onClose }: { accountId: string; email: string; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const write = useWrite(() => operatorRequest('POST', `/accounts/${accountId}/visit`, { reason }), {
    inForm: true,
    onDone: () => visitAccount(accountId),
  })
  return (
    <Dialog title={w.title(email)} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.submit} onCancel={onClose}>
        <p>{w.about}</p>
        <TextInput
          label={w.reason}
          description={w.reasonHint}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={fieldError(write.error, 'reason')}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
