// One action for several VMs: what it would do to each, and cost or give back, is shown before.
import { TextInput } from '@mantine/core'
import type { Body, BulkActionQuote } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Stack } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { vmsMessages } from '../../words/words.ts'
import type { BulkAction, BulkTarget } from './bulk.ts'

const w = vmsMessages.bulk

type Order = Body<'startBulkAction'>
type Quoted = BulkActionQuote['vms'][number]

interface Props {
  action: BulkAction
  target: BulkTarget
  title: string
  /** Typed before they are deleted. */
  confirm: string
  onClose: () => void
  onDone?: () => void
}

export default function BulkDialog({ action, target, title, confirm, onClose, onDone }: Props) {
  const [name, setName] = useState('')
  const isSnapshot = action === 'SNAPSHOT'
  const order: Order = { action, ...target, ...(name && { name }) }
  const quote = useQuery({
    queryKey: ['quote', 'bulk', action, target],
    queryFn: ({ signal }) => berth.vms.quoteBulk({ action, ...target, ...(isSnapshot && { name: w.snapshotName }) }, { signal }),
  })
  const write = useWrite(() => berth.vms.bulk(order), {
    inForm: true,
    invalidates: ['vms', 'vm', 'actions', 'wallet', 'quote'],
    successMessage: ({ started, refused }) => w.started(started, refused),
    ...(onDone && { onDone }),
  })
  return (
    <ConfirmDialog
      title={title}
      submit={w.submit[action]}
      write={write}
      onClose={onClose}
      danger={action === 'DELETE'}
      disabled={!quote.data || quote.data.started === 0 || (isSnapshot && name.trim() === '')}
      {...(action === 'DELETE' && { name: confirm })}
    >
      <Stack gap={12}>
        <p className="muted">{w.effects[action]}</p>
        <Loaded of={quote}>{(data) => <Quote quote={data} />}</Loaded>
        {isSnapshot && (
          <TextInput
            label={w.nameOfSnapshots}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldError(write.error, 'name')}
            data-autofocus
          />
        )}
      </Stack>
    </ConfirmDialog>
  )
}

function Quote({ quote }: { quote: BulkActionQuote }) {
  const money = (charge: string): string => formatMoney(charge, quote.currency)
  const nameOf = ({ vmName }: Quoted): string => vmName || w.gone
  return (
    <Stack gap={12}>
      <p>
        {quote.vms.length === 0 ? w.none : w.summary(quote.started, quote.refused)}{' '}
        {Number(quote.charge) !== 0 && w.price(money(quote.charge.replace('-', '')), quote.charge.startsWith('-'))}
      </p>
      {quote.vms.length > 0 && (
        <Table
          caption={w.table}
          rows={quote.vms}
          rowKey={({ vmId }) => vmId}
          columns={[
            { head: w.vm, cell: nameOf, truncate: nameOf },
            { head: w.result, cell: ({ error, charge }: Quoted) => error ?? (Number(charge) === 0 ? w.free : money(charge!)) },
          ]}
        />
      )}
    </Stack>
  )
}
