import { NativeSelect, TextInput } from '@mantine/core'
import type { AddRule, FirewallRule } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { commonMessages, firewallMessages as w } from '../../words/words.ts'

const PROTOCOLS = ['TCP', 'UDP', 'ICMP', 'ICMPV6', 'ANY']

const choices = (labels: Record<string, string>) => Object.entries(labels).map(([value, label]) => ({ value, label }))
const listOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** Adds a rule, or edits the given one. */
export function RuleDialog({ firewallId, rule, onClose }: { firewallId: string; rule?: FirewallRule; onClose: () => void }) {
  const [direction, setDirection] = useState(rule?.direction ?? 'IN')
  const [action, setAction] = useState(rule?.action ?? 'ACCEPT')
  const [protocol, setProtocol] = useState(rule?.protocol ?? 'TCP')
  const [port, setPort] = useState(rule && rule.port !== 'any' ? rule.port : '')
  const [sourceIps, setSource] = useState(rule?.sourceIps.join(', ') ?? '')
  const [destIps, setDest] = useState(rule?.destIps.join(', ') ?? '')
  const [description, setDescription] = useState(rule?.description ?? '')
  const hasPorts = protocol === 'TCP' || protocol === 'UDP'
  const body = {
    direction,
    action,
    protocol,
    port: hasPorts && port ? port.replaceAll(' ', '') : null,
    sourceIps: listOf(sourceIps),
    destIps: listOf(destIps),
    description,
  } as AddRule
  const save = useWrite(() => (rule ? berth.firewalls.updateRule(firewallId, rule.id, body) : berth.firewalls.addRule(firewallId, body)), {
    inForm: true,
    invalidates: ['firewalls'],
    successMessage: rule ? w.ruleSaved : w.ruleAdded,
    onDone: onClose,
  })
  return (
    <Dialog title={rule ? w.ruleTitle : w.addRule} onClose={onClose}>
      <Form onSubmit={() => save.mutate()} busy={save.isPending} error={save.error} submit={commonMessages.save} onCancel={onClose}>
        <NativeSelect
          label={w.direction}
          value={direction}
          onChange={(event) => setDirection(event.currentTarget.value)}
          data={choices(w.directions)}
          data-autofocus
        />
        <NativeSelect
          label={w.action}
          value={action}
          onChange={(event) => setAction(event.currentTarget.value)}
          data={choices(w.actions)}
        />
        <NativeSelect label={w.protocol} value={protocol} onChange={(event) => setProtocol(event.currentTarget.value)} data={PROTOCOLS} />
        {hasPorts && (
          <TextInput
            label={w.ports}
            description={w.portsHint}
            value={port}
            onChange={(event) => setPort(event.currentTarget.value)}
            error={fieldError(save.error, 'port')}
          />
        )}
        <TextInput
          label={w.source}
          description={w.addressesHint}
          value={sourceIps}
          onChange={(event) => setSource(event.currentTarget.value)}
          error={fieldError(save.error, 'sourceIps')}
        />
        <TextInput
          label={w.destination}
          description={w.addressesHint}
          value={destIps}
          onChange={(event) => setDest(event.currentTarget.value)}
          error={fieldError(save.error, 'destIps')}
        />
        <TextInput label={w.description} value={description} onChange={(event) => setDescription(event.currentTarget.value)} />
      </Form>
    </Dialog>
  )
}
