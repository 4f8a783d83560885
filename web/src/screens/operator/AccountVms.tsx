import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { operatorRequest, operatorVmsQuery, type OperatorVm } from '../../api/operator.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { Card } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { StatusBadge } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { commonMessages, operatorMessages, vmsMessages } from '../../words/words.ts'
import { MigrateDialog } from './MigrateDialog.tsx'

const w = operatorMessages.accounts

type VmVerb = keyof typeof w.vmActions

/** Whatever stops the VM or its billing is confirmed first. */
type ConfirmedVerb = keyof typeof w.vmTitles

const isConfirmed = (verb: VmVerb): verb is ConfirmedVerb => verb in w.vmTitles

const verbsFor = (status: string): VmVerb[] =>
  status === 'SUSPENDED' ? ['unsuspend'] : status === 'UNMANAGED' ? ['adopt'] : ['suspend', 'unmanage']

export function AccountVms({ accountId }: { accountId: string }) {
  const [open, setOpen] = useState<{ id: string; name: string; verb: ConfirmedVerb } | null>(null)
  const [moving, setMoving] = useState<OperatorVm | null>(null)
  const vms = useQuery(operatorVmsQuery({ account: accountId, limit: 100 }))
  const act = useWrite(({ id, verb }: { id: string; verb: VmVerb }) => operatorRequest<{ message: string }>('POST', `/vms/${id}/${verb}`), {
    invalidates: ['operator'],
    successMessage: ({ message }) => message,
  })
  const columns: Column<OperatorVm>[] = [
    { head: vmsMessages.columns.name, truncate: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
    { head: vmsMessages.columns.status, cell: ({ status }) => <StatusBadge status={status} /> },
    {
      head: vmsMessages.columns.address,
      cell: ({ ipAddress, ipv6Address }) => <code>{ipAddress ?? ipv6Address ?? commonMessages.unknown}</code>,
    },
    { head: w.plan, cell: ({ plan }) => plan },
    { head: w.host, cell: ({ host }) => host ?? commonMessages.unknown },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (vm) => (
        <RowMenu
          name={vm.name}
          items={[
            { label: operatorMessages.migrate.open, onClick: () => setMoving(vm) },
            ...verbsFor(vm.status).map((verb) => ({
              label: w.vmActions[verb],
              onClick: () => (isConfirmed(verb) ? setOpen({ id: vm.id, name: vm.name, verb }) : act.mutate({ id: vm.id, verb })),
            })),
          ]}
        />
      ),
    },
  ]
  return (
    <Card flush title={w.vmsTitle}>
      <Loaded of={vms} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted" style={{ padding: '18px 20px' }}>
              {w.noVms}
            </p>
          ) : (
            <Table caption={w.vmsTitle} columns={columns} rows={items} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {moving && <MigrateDialog vm={moving} onClose={() => setMoving(null)} />}
      {open && <ConfirmVerb {...open} onClose={() => setOpen(null)} />}
    </Card>
  )
}

function ConfirmVerb({ id, name, verb, onClose }: { id: string; name: string; verb: ConfirmedVerb; onClose: () => void }) {
  const write = useWrite<void, { message: string }>(() => operatorRequest('POST', `/vms/${id}/${verb}`), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: ({ message }) => message,
  })
  return (
    <ConfirmDialog title={w.vmTitles[verb](name)} submit={w.vmActions[verb]} write={write} onClose={onClose}>
      {w.vmAbout[verb]}
    </ConfirmDialog>
  )
}
