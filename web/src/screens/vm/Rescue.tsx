import { Alert, Button, Checkbox, PasswordInput } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { vmMessages } from '../../words/words.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { formatDateTime } from '../../ui/format.ts'
import { Row, Stack } from '../../ui/Page.tsx'

const w = vmMessages.rescuing
const invalidates = ['vm', 'vms', 'actions']

interface Props {
  vm: Vm
  onClose: () => void
}

export const ConfirmRescue = (props: Props) => (props.vm.rescue ? <EndRescue {...props} /> : <StartRescue {...props} />)

function StartRescue({ vm, onClose }: Props) {
  const keys = useQuery(sshKeysQuery())
  const [sshKeyIds, setSshKeyIds] = useState(vm.sshKeys.map(({ id }) => id))
  const [password, setPassword] = useState('')
  const body = { sshKeyIds, ...(password !== '' && { password }) }
  const write = useWrite(() => berth.vms.rescue(vm.id, body), {
    inForm: true,
    invalidates,
    successMessage: vmMessages.started.rescue,
  })
  return (
    <ConfirmDialog
      title={w.title(vm.name)}
      submit={vmMessages.rescue}
      write={write}
      onClose={onClose}
      danger={false}
      disabled={sshKeyIds.length === 0 && password === ''}
    >
      <Stack gap={14}>
        <p>{w.about}</p>
        <Checkbox.Group label={w.keys} value={sshKeyIds} onChange={setSshKeyIds}>
          <Stack gap={6}>
            <div />
            {(keys.data?.items ?? []).map(({ id, name }) => (
              <Checkbox key={id} value={id} label={name} />
            ))}
          </Stack>
        </Checkbox.Group>
        <PasswordInput
          label={w.password}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldError(write.error, 'password')}
          autoComplete="new-password"
        />
      </Stack>
    </ConfirmDialog>
  )
}

function EndRescue({ vm, onClose }: Props) {
  const write = useWrite(() => berth.vms.unrescue(vm.id), { inForm: true, invalidates, successMessage: vmMessages.started.unrescue })
  return (
    <ConfirmDialog title={w.endTitle(vm.name)} submit={vmMessages.unrescue} write={write} onClose={onClose} danger={false}>
      {w.endAbout}
    </ConfirmDialog>
  )
}

/** A warning about a VM that does not start, and what helps. */
export function OfferRescue({ vm, color, text }: { vm: Vm; color: string; text: string }) {
  return <WithRescueButton vm={vm} color={color} text={text} verb="rescue" />
}

export function InRescue({ vm, rescue }: { vm: Vm; rescue: NonNullable<Vm['rescue']> }) {
  return <WithRescueButton vm={vm} color="blue" text={w.active(rescue.user, formatDateTime(rescue.endsAt))} verb="unrescue" />
}

function WithRescueButton({ vm, color, text, verb }: { vm: Vm; color: string; text: string; verb: 'rescue' | 'unrescue' }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Alert color={color}>
      <Row gap={16}>
        <span>{text}</span>
        {vm.allowedActions.includes(verb) && (
          <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
            {vmMessages[verb]}
          </Button>
        )}
      </Row>
      {isOpen && <ConfirmRescue vm={vm} onClose={() => setIsOpen(false)} />}
    </Alert>
  )
}
