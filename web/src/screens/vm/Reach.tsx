import { Alert, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import type { CheckReach, Reach as ReachAnswer, Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { vmChoicesQuery } from '../../queries/vms.ts'
import { Form } from '../../ui/Form.tsx'
import { Card } from '../../ui/Page.tsx'
import { vmMessages } from '../../words/words.ts'
import css from './vm.module.css'

const w = vmMessages.networking

/** Which rule or missing network decides about a connection of this VM. */
export function Reach({ vm }: { vm: Vm }) {
  const others = (useQuery(vmChoicesQuery).data?.items ?? []).filter(({ id }) => id !== vm.id)
  const [chosen, setChosen] = useState<string | null>(null)
  const [address, setAddress] = useState('')
  const [protocol, setProtocol] = useState<CheckReach['protocol']>('TCP')
  const [port, setPort] = useState<number | ''>(22)
  const vmId = chosen ?? others[0]?.id ?? ''
  const to = vmId === '' ? address : vmId
  const hasPort = protocol === 'TCP' || protocol === 'UDP'
  const check = useWrite(() => berth.vms.checkReach(vm.id, { to, protocol, port: hasPort && port !== '' ? port : null }), { inForm: true })
  const { reset } = check
  // An answer is valid only for the question.
  useEffect(reset, [reset, vm.id, to, protocol, port])
  return (
    <Card title={w.reach} about={w.reachAbout}>
      <Form onSubmit={() => check.mutate()} busy={check.isPending} error={check.error} submit={w.checkReach} disabled={to === ''}>
        <div className={css['question']}>
          <NativeSelect
            label={w.reachTo}
            value={vmId}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={[...others.map(({ id, name }) => ({ value: id, label: name })), { value: '', label: w.reachAddress }]}
          />
          {vmId === '' && (
            <TextInput
              label={w.address}
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value.trim())}
              error={fieldError(check.error, 'to')}
            />
          )}
          <NativeSelect
            label={w.protocol}
            value={protocol}
            onChange={(event) => setProtocol(event.currentTarget.value as CheckReach['protocol'])}
            data={['TCP', 'UDP', 'ICMP', 'ICMPV6']}
          />
          {hasPort && (
            <NumberInput
              label={w.port}
              value={port}
              min={1}
              max={65_535}
              hideControls
              onChange={(value) => setPort(value === '' ? '' : Number(value))}
              error={fieldError(check.error, 'port')}
            />
          )}
        </div>
        {check.data && <Answer answer={check.data} />}
      </Form>
    </Card>
  )
}

function Answer({ answer: { verdict, source, destination, applied, steps } }: { answer: ReachAnswer }) {
  return (
    <Alert color={verdict === 'BLOCKED' ? 'red' : 'tide'} title={w.verdict[verdict]}>
      <p>
        {w.reachPath(source.address ?? w.noAddress, destination.address ?? w.noAddress)} {!applied && w.notApplied}
      </p>
      <ol>
        {steps.map(({ step, passes, detail }) => (
          <li key={step}>
            {detail}: {passes ? w.passes : w.stops}
          </li>
        ))}
      </ol>
      {steps.map(({ step, remedy }) => remedy && <p key={step}>{remedy}.</p>)}
    </Alert>
  )
}
