import type { Quote, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { formatMoney, moneyFacts } from '../../ui/format.ts'
import { ErrorAlert } from '../../ui/Form.tsx'
import { Facts, Stack } from '../../ui/Page.tsx'
import { vmMessages } from '../../words/words.ts'

const w = vmMessages.shelving

const VERBS = {
  shelve: {
    quote: berth.vms.quoteShelve.bind(berth.vms),
    send: (id: string) => berth.vms.shelve(id),
    title: w.shelveTitle,
    about: w.shelveAbout,
  },
  unshelve: {
    quote: berth.vms.quoteUnshelve.bind(berth.vms),
    send: (id: string) => berth.vms.unshelve(id),
    title: w.unshelveTitle,
    about: w.unshelveAbout,
  },
}

export type ShelvingVerb = keyof typeof VERBS

/** With the price from a dry run on the server, which also says why it cannot be done now. */
export function ConfirmShelving({ vm, verb, onClose }: { vm: Vm; verb: ShelvingVerb; onClose: () => void }) {
  const { quote: ask, send, title, about } = VERBS[verb]
  const quote = useQuery({ queryKey: ['quote', vm.id, verb], queryFn: ({ signal }) => ask(vm.id, { signal }), gcTime: 0 })
  const write = useWrite(() => send(vm.id), {
    inForm: true,
    invalidates: ['vm', 'vms', 'wallet', 'actions'],
    successMessage: vmMessages.started[verb],
  })
  return (
    <ConfirmDialog title={title(vm.name)} submit={vmMessages[verb]} write={write} onClose={onClose} danger={false} disabled={!quote.data}>
      <Stack gap={14}>
        <p>{about}</p>
        {quote.data && <Price quote={quote.data} />}
        <ErrorAlert error={quote.error} />
      </Stack>
    </ConfirmDialog>
  )
}

function Price({ quote: { charge, monthly, balanceAfter, currency } }: { quote: Quote }) {
  const isRefund = charge.startsWith('-')
  return (
    <Facts
      facts={[
        [isRefund ? w.refund : w.dueToday, formatMoney(isRefund ? charge.slice(1) : charge, currency)],
        [w.monthly, formatMoney(monthly, currency)],
        ...moneyFacts(w.balanceAfter, balanceAfter, currency),
      ]}
    />
  )
}
