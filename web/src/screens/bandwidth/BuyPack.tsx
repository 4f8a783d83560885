import { NumberInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Form } from '../../ui/Form.tsx'
import { bandwidthMessages as w } from '../../words/words.ts'

export function BuyPack({ vmId, vmName, onClose }: { vmId: string; vmName: string; onClose: () => void }) {
  const [gigabytes, setGigabytes] = useState(1000)
  const [settled] = useDebouncedValue(gigabytes, 300)
  const quote = useQuery({
    queryKey: ['quote', vmId, 'pack', settled],
    queryFn: ({ signal }) => berth.bandwidth.quotePack(vmId, settled, { signal }),
  })
  const buy = useWrite(() => berth.bandwidth.buyPack(vmId, gigabytes), {
    inForm: true,
    invalidates: ['bandwidth', 'wallet', 'vm'],
    successMessage: w.packAdded,
    onDone: onClose,
  })
  return (
    <Dialog title={w.buyFor(vmName)} onClose={onClose}>
      <Form
        onSubmit={() => buy.mutate()}
        busy={buy.isPending}
        error={buy.error ?? quote.error}
        submit={w.buy}
        onCancel={onClose}
        disabled={!quote.data || settled !== gigabytes}
      >
        <NumberInput
          label={w.gigabytes}
          description={w.gigabytesHint}
          min={1}
          step={100}
          value={gigabytes}
          onChange={(value) => setGigabytes(Number(value))}
          error={fieldError(buy.error, 'gigabytes')}
          data-autofocus
        />
        {quote.data && (
          <p>{w.charged(formatMoney(quote.data.charge, quote.data.currency), formatMoney(quote.data.balanceAfter, quote.data.currency))}</p>
        )}
      </Form>
    </Dialog>
  )
}
