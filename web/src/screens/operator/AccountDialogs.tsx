import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRequest, type SuspensionResult } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatMoney } from '../../ui/format.ts'
import { operatorMessages } from '../../words/words.ts'

const w = operatorMessages.accounts

interface Props {
  accountId: string
  onClose: () => void
}

export function AdjustBalance({ accountId, how, onClose }: Props & { how: 'credit' | 'adjust' }) {
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState('')
  const move = useWrite(
    () => operatorRequest<{ balance: string; currency: string }>('POST', `/accounts/${accountId}/${how}`, { amount, reason }),
    {
      inForm: true,
      invalidates: ['operator', 'wallet'],
      successMessage: ({ balance, currency }) => w.balanceChanged(formatMoney(balance, currency)),
      onDone: onClose,
    },
  )
  return (
    <Dialog title={w[how]} onClose={onClose}>
      <Form onSubmit={() => move.mutate()} busy={move.isPending} error={move.error} submit={w[how]} onCancel={onClose}>
        <TextInput
          label={w.amount}
          description={how === 'credit' ? w.creditHint : w.adjustHint}
          inputMode="decimal"
          value={amount}
          onChange={(event) => setAmount(event.currentTarget.value.trim())}
          error={fieldError(move.error, 'amount')}
          data-autofocus
        />
        <TextInput
          label={w.reason}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={fieldError(move.error, 'reason')}
        />
      </Form>
    </Dialog>
  )
}

export function SuspendAccount({ accountId, onClose, onDone }: Props & { onDone: (outcome: SuspensionResult) => void }) {
  const [reason, setReason] = useState('')
  const write = useWrite(() => operatorRequest<SuspensionResult>('POST', `/accounts/${accountId}/suspend`, { reason }), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.suspendedNow,
    onDone: (outcome) => {
      onClose()
      onDone(outcome)
    },
  })
  return (
    <Dialog title={w.suspendTitle} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.suspend} onCancel={onClose} danger>
        <p>{w.suspendAbout}</p>
        <TextInput
          label={w.reason}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={fieldError(write.error, 'reason')}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
