import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { hostsQuery, migrationPlanQuery, operatorRequest, type OperatorVm } from '../../api/operator.ts'
import { operatorMessages } from '../../words/words.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'

const w = operatorMessages.migrate

/** Says where the VM would go, or why it cannot, before it is asked for. */
export function MigrateDialog({ vm: { id, name, host }, onClose }: { vm: OperatorVm; onClose: () => void }) {
  const [to, setTo] = useState('')
  const plan = useQuery(migrationPlanQuery(id, to))
  const hosts = useQuery(hostsQuery).data ?? []
  const region = hosts.find((each) => each.name === host)?.region
  const others = hosts.filter((each) => each.name !== host && each.region === region)
  const move = useWrite<void, { message: string }>(() => operatorRequest('POST', `/vms/${id}/migration`, to === '' ? {} : { to }), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: ({ message }) => message,
    onDone: onClose,
  })
  return (
    <Dialog title={w.title(name)} onClose={onClose}>
      <Form
        onSubmit={() => move.mutate()}
        busy={move.isPending}
        error={move.error ?? plan.error}
        submit={w.submit}
        onCancel={onClose}
        disabled={!plan.data || plan.isError}
      >
        <p className="muted">{w.about}</p>
        <NativeSelect
          label={w.host}
          value={to}
          onChange={({ currentTarget: { value } }) => setTo(value)}
          data={[{ value: '', label: w.anyHost }, ...others.map((each) => ({ value: each.id, label: each.name }))]}
          data-autofocus
        />
        {plan.data && !plan.isError && (
          <p>
            {w.plan(plan.data.from, plan.data.to)} {plan.data.note}
          </p>
        )}
      </Form>
    </Dialog>
  )
}
