import { Alert, NativeSelect, TextInput } from '@mantine/core'
import type { CheckPacket, Firewall, FirewallVerdict } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { bindingsQuery } from '../../queries/network.ts'
import { vmChoicesQuery, vmQuery } from '../../queries/vms.ts'
import { Form } from '../../ui/Form.tsx'
import { PacketFields, usePacketFields } from '../../ui/PacketFields.tsx'
import { Card } from '../../ui/Page.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import css from './firewalls.module.css'
import { toApi } from './rule.ts'
import type { Draft } from './useDraft.ts'

/** Asks about the draft of the rules while there is one. */
export function Tester({ firewall, draft }: { firewall: Firewall; draft: Draft | null }) {
  const bindings = useQuery(bindingsQuery(firewall.id)).data ?? []
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const [chosen, setChosen] = useState('')
  const [direction, setDirection] = useState<CheckPacket['direction']>('IN')
  const fields = usePacketFields()
  const { protocol, port } = fields.packet
  const [address, setAddress] = useState('198.18.0.1')
  const [chosenNetwork, setNetwork] = useState('')
  const vmId = chosen || (bindings[0]?.vmId ?? '')
  const networks = useQuery({ ...vmQuery(vmId), enabled: vmId !== '' }).data?.privateNetworks ?? []
  const networkId = networks.some(({ id }) => id === chosenNetwork) ? chosenNetwork : null
  const isDraft = draft !== null && draft.changes.length > 0
  const check = useWrite(
    () =>
      berth.firewalls.check(firewall.id, {
        vmId,
        networkId,
        direction,
        protocol,
        port,
        address,
        ...(isDraft && { rules: draft.rules.map(toApi) }),
      }),
    { inForm: true },
  )
  const rules = JSON.stringify(draft?.rules)
  const { reset } = check
  // A verdict is valid only for the tested packet and rules.
  useEffect(reset, [reset, vmId, networkId, direction, protocol, port, address, rules])
  if (bindings.length === 0)
    return (
      <Card title={w.tester} about={w.testerAbout}>
        <p className="muted">{w.testerNeedsVm}</p>
      </Card>
    )
  return (
    <Card title={w.tester} about={isDraft ? w.testerDraft : w.testerAbout}>
      <Form onSubmit={() => check.mutate()} busy={check.isPending} error={check.error} submit={w.test}>
        <div className={css['tester']}>
          <NativeSelect
            label={w.vm}
            value={vmId}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={bindings.map((binding) => ({
              value: binding.vmId,
              label: vms.find(({ id }) => id === binding.vmId)?.name ?? binding.vmId,
            }))}
          />
          {networks.length > 0 && (
            <NativeSelect
              label={w.interface}
              value={networkId ?? ''}
              onChange={(event) => setNetwork(event.currentTarget.value)}
              data={[{ value: '', label: w.publicInterface }, ...networks.map(({ id, name }) => ({ value: id, label: name }))]}
            />
          )}
          <NativeSelect
            label={w.direction}
            value={direction}
            onChange={(event) => setDirection(event.currentTarget.value as CheckPacket['direction'])}
            data={Object.entries(w.directions).map(([value, label]) => ({ value, label }))}
          />
          <PacketFields of={fields} error={check.error} />
          <TextInput
            label={w.remoteAddress}
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value.trim())}
            error={fieldError(check.error, 'address')}
          />
        </div>
        {check.data && <Verdict verdict={check.data} firewall={firewall} isDraft={isDraft} />}
      </Form>
    </Card>
  )
}

function Verdict({ verdict, firewall, isDraft }: { verdict: FirewallVerdict; firewall: Firewall; isDraft: boolean }) {
  const { action, rule, decidedBy, firewallId, applied } = verdict
  const other = firewallId === firewall.id ? '' : w.otherFirewall
  return (
    <Alert color={action === 'ACCEPT' ? 'tide' : 'red'} title={w.verdict[action] ?? action}>
      {rule ? w.byRule(rule.position, other) : decidedBy === 'NO_FIREWALL' ? w.byNone : w.byDefault}{' '}
      {isDraft ? w.notInForce : !applied && w.notApplied}
    </Alert>
  )
}
