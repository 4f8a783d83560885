// One action for all VMs that the list is filtered by their labels. What it would do and cost is shown before.
import { Button, Menu, TextInput } from '@mantine/core'
import type { Body, BulkActionQuote } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { vmsMessages } from '../../words/words.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Stack } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'

const w = vmsMessages.bulk

type Order = Body<'startBulkAction'>
type Action = Order['action']
type Quoted = BulkActionQuote['vms'][number]

const ACTIONS: Action[] = ['START', 'STOP', 'RESTART', 'SNAPSHOT', 'DELETE']

export function BulkActions({ labelSelector }: { labelSelector: string }) {
  const target = useRef<HTMLButtonElement>(null)
  const [action, setAction] = useState<Action | null>(null)
  return (
    <>
      <Menu position="bottom-end" width={210} transitionProps={{ duration: 80 }}>
        <Menu.Target>
          <Button ref={target} variant="default">
            {w.menu}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ACTIONS.map((each) => (
            <Menu.Item
              key={each}
              color={each === 'DELETE' ? 'red' : undefined}
              onClick={() => {
                target.current?.focus() // the dialog returns the focus there: the item itself is gone by then
                setAction(each)
              }}
            >
              {w.actions[each]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {action && <BulkDialog action={action} labelSelector={labelSelector} onClose={() => setAction(null)} />}
    </>
  )
}

interface DialogProps {
  action: Action
  labelSelector: string
  onClose: () => void
}

function BulkDialog({ action, labelSelector, onClose }: DialogProps) {
  const [name, setName] = useState('')
  const order: Order = { action, labelSelector, ...(name && { name }) }
  const quote = useQuery({
    queryKey: ['quote', 'bulk', action, labelSelector],
    queryFn: ({ signal }) =>
      berth.vms.quoteBulk({ action, labelSelector, ...(action === 'SNAPSHOT' && { name: w.snapshotName }) }, { signal }),
  })
  const write = useWrite(() => berth.vms.bulk(order), {
    inForm: true,
    invalidates: ['vms', 'vm', 'actions', 'wallet', 'quote'],
    successMessage: ({ started, refused }) => w.started(started, refused),
  })
  const isSnapshot = action === 'SNAPSHOT'
  return (
    <ConfirmDialog
      title={w.actions[action]}
      submit={w.submit[action]}
      write={write}
      onClose={onClose}
      danger={action === 'DELETE'}
      disabled={!quote.data || quote.data.started === 0 || (isSnapshot && name.trim() === '')}
      {...(action === 'DELETE' && { name: labelSelector })}
    >
      <Stack gap={12}>
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
            { head: w.vm, cell: ({ vmName }: Quoted) => vmName, truncate: ({ vmName }: Quoted) => vmName },
            { head: w.result, cell: ({ error, charge }: Quoted) => error ?? (Number(charge) === 0 ? w.free : money(charge!)) },
          ]}
        />
      )}
    </Stack>
  )
}
