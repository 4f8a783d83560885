import { Alert, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import type { CheckReach, Reach } from '@berth/sdk'
import { useEffect, useEffectEvent, useState } from 'react'
import { berth } from '../../../api/berth.ts'
import { useWrite } from '../../../api/client.ts'
import { fieldError } from '../../../api/errors.ts'
import { Form } from '../../../ui/Form.tsx'
import { TextLink } from '../../../ui/links.tsx'
import { Card } from '../../../ui/Page.tsx'
import { networkMessages, vmMessages } from '../../../words/words.ts'
import type { Topology } from './layout.ts'
import css from './map.module.css'

const w = networkMessages.map
const v = vmMessages.networking

/** The same question as on the page of a VM; its answer is drawn on the map. */
export function MapReach({ topology: { vms }, onAnswer }: { topology: Topology; onAnswer: (reach: Reach | null) => void }) {
  const [from, setFrom] = useState(vms[0]!.id)
  const [chosen, setChosen] = useState(vms[1]?.id ?? '')
  const [address, setAddress] = useState('')
  const [protocol, setProtocol] = useState<CheckReach['protocol']>('TCP')
  const [port, setPort] = useState<number | ''>(22)
  const to = chosen === '' ? address : chosen
  const hasPort = protocol === 'TCP' || protocol === 'UDP'
  const check = useWrite(() => berth.vms.checkReach(from, { to, protocol, port: hasPort && port !== '' ? port : null }), { inForm: true })
  const { reset } = check
  // An answer is valid only for its question.
  useEffect(reset, [reset, from, to, protocol, port])
  const answered = useEffectEvent(onAnswer)
  useEffect(() => answered(check.data ?? null), [check.data])
  const choices = vms.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Card title={w.reach} about={w.reachAbout}>
      <Form
        onSubmit={() => check.mutate()}
        busy={check.isPending}
        error={check.error}
        submit={v.checkReach}
        disabled={to === '' || to === from}
      >
        <div className={css['question']}>
          <NativeSelect label={w.from} value={from} onChange={(event) => setFrom(event.currentTarget.value)} data={choices} />
          <NativeSelect
            label={w.to}
            value={chosen}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={[...choices, { value: '', label: v.reachAddress }]}
          />
          {chosen === '' && (
            <TextInput
              label={v.address}
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value.trim())}
              error={fieldError(check.error, 'to')}
            />
          )}
          <NativeSelect
            label={v.protocol}
            value={protocol}
            onChange={(event) => setProtocol(event.currentTarget.value as CheckReach['protocol'])}
            data={['TCP', 'UDP', 'ICMP', 'ICMPV6']}
          />
          {hasPort && (
            <NumberInput
              label={v.port}
              value={port}
              min={1}
              max={65_535}
              hideControls
              onChange={(value) => setPort(value === '' ? '' : Number(value))}
              error={fieldError(check.error, 'port')}
            />
          )}
        </div>
        {check.data && <Answer reach={check.data} />}
      </Form>
    </Card>
  )
}

function Answer({ reach: { verdict, source, destination, applied, steps } }: { reach: Reach }) {
  return (
    <Alert color={verdict === 'BLOCKED' ? 'red' : 'tide'} title={v.verdict[verdict]}>
      <p>
        {v.reachPath(source.address ?? v.noAddress, destination.address ?? v.noAddress)} {!applied && v.notApplied}
      </p>
      <ol className={css['steps']}>
        {steps.map(({ step, passes, detail, firewallId, remedy, missingPeering }) => (
          <li key={step} data-passes={passes}>
            {detail}: {passes ? v.passes : v.stops}
            {firewallId !== null && (
              <>
                {' '}
                <TextLink to="/firewalls/$firewallId" params={{ firewallId }}>
                  {w.openFirewall}
                </TextLink>
              </>
            )}
            {remedy !== null && <div>{remedy}.</div>}
            {missingPeering?.[0] && (
              <TextLink to="/networks/$networkId" params={{ networkId: missingPeering[0].id }}>
                {w.openNetwork(missingPeering[0].name)}
              </TextLink>
            )}
          </li>
        ))}
      </ol>
    </Alert>
  )
}
