import { Button, NativeSelect } from '@mantine/core'
import type { FirewallBindingState } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { bindingsQuery } from '../../queries/network.ts'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Missing } from '../../ui/Missing.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { commonMessages, firewallMessages as w, vmsMessages } from '../../words/words.ts'
import css from './firewalls.module.css'

const invalidates = ['firewalls', 'vm']

export function Bindings({ firewallId }: { firewallId: string }) {
  const [binds, setBinds] = useState(false)
  const bindings = useQuery(bindingsQuery(firewallId))
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const nameOf = (vmId: string): string => vms.find(({ id }) => id === vmId)?.name ?? vmId
  const unbind = useWrite((vmId: string) => berth.firewalls.unbind(firewallId, vmId), { invalidates, successMessage: w.detached })
  const columns: Column<FirewallBindingState>[] = [
    {
      head: w.vm,
      truncate: ({ vmId }) => nameOf(vmId),
      cell: ({ vmId }) => (
        <TextLink to="/vms/$vmId" params={{ vmId }}>
          {nameOf(vmId)}
        </TextLink>
      ),
    },
    {
      head: w.applied,
      cell: ({ applied, error }) => (
        <Status tone={applied ? 'good' : 'busy'}>{applied ? commonMessages.yes : (error ?? w.appliedNo)}</Status>
      ),
    },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: ({ vmId }) => (
        <Button variant="subtle" color="red" size="xs" aria-label={w.detachFrom(nameOf(vmId))} onClick={() => unbind.mutate(vmId)}>
          {w.detach}
        </Button>
      ),
    },
  ]
  const bind = (
    <Button variant="default" size="xs" onClick={() => setBinds(true)}>
      {w.attach}
    </Button>
  )
  return (
    <Card flush title={w.bindings} about={w.bindingsAbout} actions={bind}>
      <Loaded of={bindings} lines={2}>
        {(all) =>
          all.length === 0 ? (
            <p className={css['none']}>{w.noBindings}</p>
          ) : (
            <Table caption={w.bindings} columns={columns} rows={all} rowKey={({ vmId }) => vmId} />
          )
        }
      </Loaded>
      {binds && (
        <AttachDialog
          firewallId={firewallId}
          vms={vms.filter(({ id }) => !bindings.data?.some(({ vmId }) => vmId === id))}
          onClose={() => setBinds(false)}
        />
      )}
    </Card>
  )
}

function AttachDialog({ firewallId, vms, onClose }: { firewallId: string; vms: { id: string; name: string }[]; onClose: () => void }) {
  const [chosen, setChosen] = useState('')
  const vmId = chosen || (vms[0]?.id ?? '')
  const bind = useWrite(() => berth.firewalls.bind(firewallId, vmId), {
    inForm: true,
    invalidates,
    successMessage: w.attached,
    onDone: onClose,
  })
  return (
    <Dialog title={w.attachTitle} onClose={onClose}>
      <Form
        onSubmit={() => bind.mutate()}
        busy={bind.isPending}
        error={bind.error}
        submit={w.attach}
        onCancel={onClose}
        disabled={vmId === ''}
      >
        {vms.length === 0 ? (
          <Missing text={w.noVms} link={<TextLink to="/vms/new">{vmsMessages.create}</TextLink>} />
        ) : (
          <NativeSelect
            label={w.vm}
            value={vmId}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={vms.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
      </Form>
    </Dialog>
  )
}
