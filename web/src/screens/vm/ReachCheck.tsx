import { Alert, NativeSelect, TextInput } from '@mantine/core'
import type { Reach } from '@berth/sdk'
import { useEffect, useEffectEvent, useState, type ReactNode } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { PacketFields, usePacketFields } from '../../ui/PacketFields.tsx'
import { Card } from '../../ui/Page.tsx'
import { vmMessages } from '../../words/words.ts'
import css from './vm.module.css'

const w = vmMessages.networking

interface Props {
  title: string
  about: string
  /** The id of a VM. */
  from: string
  /** To choose from, besides an address. */
  vms: { id: string; name: string }[]
  toLabel: string
  /** The VM to ask about first. */
  first: string | undefined
  onAnswer?: (reach: Reach | null) => void
  /** Before the other inputs. */
  children?: ReactNode
}

/** Which rule or missing network decides about a connection of a VM. */
export function ReachCheck({ title, about, from, vms, toLabel, first, onAnswer = () => {}, children }: Props) {
  const [chosen, setChosen] = useState<string | null>(null)
  const [address, setAddress] = useState('')
  const fields = usePacketFields()
  const { protocol, port } = fields.packet
  const vmId = chosen ?? first ?? ''
  const to = vmId === '' ? address : vmId
  const check = useWrite(() => berth.vms.checkReach(from, { to, protocol, port }), { inForm: true })
  const { reset } = check
  // An answer is valid only for its question.
  useEffect(reset, [reset, from, to, protocol, port])
  const answered = useEffectEvent(onAnswer)
  useEffect(() => answered(check.data ?? null), [check.data])
  return (
    <Card title={title} about={about}>
      <Form
        onSubmit={() => check.mutate()}
        busy={check.isPending}
        error={check.error}
        submit={w.checkReach}
        disabled={to === '' || to === from}
      >
        <div className={css['question']}>
          {children}
          <NativeSelect
            label={toLabel}
            value={vmId}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={[...vms.map(({ id, name }) => ({ value: id, label: name })), { value: '', label: w.reachAddress }]}
          />
          {vmId === '' && (
            <TextInput
              label={w.address}
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value.trim())}
              error={fieldError(check.error, 'to')}
            />
          )}
          <PacketFields of={fields} error={check.error} />
        </div>
        {check.data && <Answer reach={check.data} />}
      </Form>
    </Card>
  )
}

function Answer({ reach: { verdict, source, destination, applied, steps } }: { reach: Reach }) {
  return (
    <Alert color={verdict === 'BLOCKED' ? 'red' : 'tide'} title={w.verdict[verdict]}>
      <p>
        {w.reachPath(source.address ?? w.noAddress, destination.address ?? w.noAddress)} {!applied && w.notApplied}
      </p>
      <ol className={css['reachSteps']}>
        {steps.map(({ step, passes, detail, firewallId, remedy, missingPeering }) => (
          <li key={step} data-passes={passes}>
            {detail}: {passes ? w.passes : w.stops}
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
