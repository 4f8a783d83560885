import { Switch } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Form } from '../../ui/Form.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'

const w = vmMessages.settings

interface Props {
  vm: Vm
  label: string
  field: 'dailyBackupEnabled' | 'network10gEnabled'
}

/** Shows a quote before anything is charged. */
export function AddOn({ vm, label, field }: Props) {
  const [asks, setAsks] = useState(false)
  return (
    <>
      <Switch aria-label={label} checked={vm[field]} onChange={() => setAsks(true)} />
      {asks && <ChangeAddOn vm={vm} label={label} change={{ [field]: !vm[field] }} onClose={() => setAsks(false)} />}
    </>
  )
}

function ChangeAddOn({ vm, label, change, onClose }: { vm: Vm; label: string; change: Record<string, boolean>; onClose: () => void }) {
  const quote = useQuery({ queryKey: ['quote', vm.id, change], queryFn: ({ signal }) => berth.vms.quoteUpdate(vm.id, change, { signal }) })
  const write = useWrite(() => berth.vms.update(vm.id, change), {
    inForm: true,
    invalidates: ['vm', 'vms', 'wallet'],
    successMessage: commonMessages.saved,
    onDone: onClose,
  })
  return (
    <Dialog title={w.addOnTitle} onClose={onClose}>
      <Form
        onSubmit={() => write.mutate()}
        busy={write.isPending}
        error={write.error ?? quote.error}
        submit={w.confirmAddOn}
        onCancel={onClose}
        disabled={!quote.data}
      >
        <strong>{w.turnAddOn(label, Object.values(change).includes(true))}</strong>
        {quote.data && (
          <p>{w.addOnPrice(formatMoney(quote.data.charge, quote.data.currency), formatMoney(quote.data.monthly, quote.data.currency))}</p>
        )}
      </Form>
    </Dialog>
  )
}
