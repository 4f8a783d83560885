import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operate, type AccountSuspended } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatMoney } from '../../ui/format.ts'
import { operatorWords } from '../../messages/operator.ts'

const w = operatorWords.accounts

interface Props {
  accountId: string
  onClose: () => void
}

export function MoveMoney({ accountId, how, onClose }: Props & { how: 'credit' | 'adjust' }) {
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState('')
  const move = useWrite(() => operate<{ balance: string; currency: string }>('POST', `/accounts/${accountId}/${how}`, { amount, reason }), {
    inForm: true,
    changes: ['operator', 'wallet'],
    says: ({ balance, currency }) => w.moved(formatMoney(balance, currency)),
    after: onClose,
  })
  return (
    <Dialog title={w[how]} onClose={onClose}>
      <Form onSubmit={() => move.mutate()} busy={move.isPending} error={move.error} submit={w[how]} onCancel={onClose}>
        <TextInput
          label={w.amount}
          description={w.amountHint}
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

export function Suspend({ accountId, onClose, onDone }: Props & { onDone: (outcome: AccountSuspended) => void }) {
  const [reason, setReason] = useState('')
  const write = useWrite(() => operate<AccountSuspended>('POST', `/accounts/${accountId}/suspend`, { reason }), {
    inForm: true,
    changes: ['operator'],
    says: w.suspending,
    after: (outcome) => {
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
