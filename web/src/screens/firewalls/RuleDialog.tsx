import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { commonMessages, firewallMessages as w } from '../../words/words.ts'
import { ANY_PORT, hasPorts, newKey, portsOf, wrongAddress, type Rule } from './rule.ts'

const PROTOCOLS = ['TCP', 'UDP', 'ICMP', 'ICMPV6', 'ANY']

const choices = (labels: Record<string, string>) => Object.entries(labels).map(([value, label]) => ({ value, label }))
const listOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

interface Props {
  /** Undefined for a new one. */
  rule?: Rule
  onSave: (rule: Rule) => void
  onClose: () => void
}

/** Edits a rule of the draft. The server checks it again when the draft is applied. */
export function RuleDialog({ rule, onSave, onClose }: Props) {
  const [direction, setDirection] = useState<string>(rule?.direction ?? 'IN')
  const [action, setAction] = useState<string>(rule?.action ?? 'ACCEPT')
  const [protocol, setProtocol] = useState<string>(rule?.protocol ?? 'TCP')
  const [port, setPort] = useState(rule && rule.port !== ANY_PORT ? rule.port : '')
  const [source, setSource] = useState(rule?.sourceIps.join(', ') ?? '')
  const [dest, setDest] = useState(rule?.destIps.join(', ') ?? '')
  const [description, setDescription] = useState(rule?.description ?? '')
  const [attempt, setAttempt] = useState(0)
  const isChecked = attempt > 0
  const edited = {
    key: rule?.key ?? newKey(),
    direction,
    action,
    protocol,
    port: port.replaceAll(' ', '') || ANY_PORT,
    sourceIps: listOf(source),
    destIps: listOf(dest),
    description: description.trim(),
  } as Rule
  const withPorts = hasPorts(edited)
  if (!withPorts) edited.port = ANY_PORT
  const errors = {
    port: portsOf(edited.port) ? undefined : w.wrongPorts,
    source: addressError(edited.sourceIps),
    dest: addressError(edited.destIps),
    description: edited.description.length > 200 ? w.descriptionTooLong : undefined,
  }
  const isWrong = Object.values(errors).some(Boolean)
  const submit = (): void => {
    if (isWrong) return setAttempt(attempt + 1)
    onSave(edited)
    onClose()
  }
  return (
    <Dialog title={rule ? w.ruleTitle : w.addRule} onClose={onClose}>
      <Form onSubmit={submit} busy={false} error={null} attempt={attempt} submit={rule ? w.keepRule : w.addRule} onCancel={onClose}>
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
        <NativeSelect
          label={commonMessages.protocol}
          value={protocol}
          onChange={(event) => setProtocol(event.currentTarget.value)}
          data={PROTOCOLS}
        />
        {withPorts && (
          <TextInput
            label={w.ports}
            description={w.portsHint}
            value={port}
            onChange={(event) => setPort(event.currentTarget.value)}
            error={isChecked && errors.port}
          />
        )}
        <TextInput
          label={w.source}
          description={w.addressesHint}
          value={source}
          onChange={(event) => setSource(event.currentTarget.value)}
          error={isChecked && errors.source}
        />
        <TextInput
          label={w.destination}
          description={w.addressesHint}
          value={dest}
          onChange={(event) => setDest(event.currentTarget.value)}
          error={isChecked && errors.dest}
        />
        <TextInput
          label={w.description}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={isChecked && errors.description}
          maxLength={200}
        />
      </Form>
    </Dialog>
  )
}

function addressError(texts: string[]): string | undefined {
  const index = wrongAddress(texts)
  return index < 0 ? undefined : w.wrongEntry(index + 1)
}
