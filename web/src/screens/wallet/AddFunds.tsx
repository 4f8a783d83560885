import { Alert, Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Stack } from '../../ui/Page.tsx'
import { walletMessages as w } from '../../words/words.ts'

const toAmount = (text: string): string => (/^\d+$/.test(text) ? `${text}.00` : text)

export function AddFunds({ currency, onClose }: { currency: string; onClose: () => void }) {
  const [amount, setAmount] = useState('25.00')
  const deposit = useWrite(() => berth.deposits.create({ amount: toAmount(amount) }), { inForm: true, invalidates: ['wallet'] })
  if (deposit.data)
    return (
      <Dialog title={w.addFundsTitle} onClose={onClose}>
        <Stack gap={16}>
          {deposit.data.instructions && <Alert style={{ whiteSpace: 'pre-line' }}>{deposit.data.instructions}</Alert>}
          {deposit.data.checkoutUrl && (
            <Button component="a" href={deposit.data.checkoutUrl} rel="noreferrer">
              {w.openPayment}
            </Button>
          )}
        </Stack>
      </Dialog>
    )
  return (
    <Dialog title={w.addFundsTitle} onClose={onClose}>
      <Form
        onSubmit={() => deposit.mutate()}
        busy={deposit.isPending}
        error={deposit.error}
        submit={w.continueToPayment}
        onCancel={onClose}
      >
        <TextInput
          label={`${w.amount} (${currency})`}
          description={w.amountHint}
          inputMode="decimal"
          value={amount}
          onChange={(event) => setAmount(event.currentTarget.value.trim())}
          error={fieldError(deposit.error, 'amount')}
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}
