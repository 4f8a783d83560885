import { ActionIcon, Menu } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { vmMessages as w } from '../../words/words.ts'
import { ActionButton, disabledReason } from './ActionButton.tsx'
import { ConfirmIso } from './Iso.tsx'
import { ConfirmRescue } from './Rescue.tsx'
import { ConfirmShelving, type ShelvingVerb } from './Shelving.tsx'

const invalidates = ['vm', 'vms', 'actions']

/** Whatever interrupts the guest is confirmed first; starting it is not. */
const CONFIRMED = {
  reboot: { send: (id: string) => berth.vms.restart(id), successMessage: w.started.restart, danger: false },
  shutDown: { send: (id: string) => berth.vms.stop(id), successMessage: w.started.stop, danger: true },
  powerOff: { send: (id: string) => berth.vms.stop(id, { force: true }), successMessage: w.started.powerOff, danger: true },
  reset: { send: (id: string) => berth.vms.restart(id, { force: true }), successMessage: w.started.reset, danger: true },
}

type Verb = keyof typeof CONFIRMED

export function Power({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<Verb | null>(null)
  const [shelving, setShelving] = useState<ShelvingVerb | null>(null)
  const [isRescuing, setIsRescuing] = useState(false)
  const rescueVerb = vm.rescue ? 'unrescue' : 'rescue'
  const [isChangingIso, setIsChangingIso] = useState(false)
  const isoVerb = vm.iso ? 'detachIso' : 'attachIso'
  const isShelved = vm.shelvedAt !== null
  const start = useWrite(() => berth.vms.start(vm.id), { invalidates, successMessage: w.started.start })
  const stopped = vm.status === 'STOPPED' || (vm.status === 'ERROR' && vm.allowedActions.includes('start'))
  return (
    <>
      {isShelved ? (
        <ActionButton vm={vm} action="unshelve" leftSection={<Icon name="play" size={15} />} onClick={() => setShelving('unshelve')}>
          {w.unshelve}
        </ActionButton>
      ) : stopped ? (
        <ActionButton
          vm={vm}
          action="start"
          leftSection={<Icon name="play" size={15} />}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {w.start}
        </ActionButton>
      ) : (
        <>
          <ActionButton
            vm={vm}
            action="restart"
            variant="default"
            leftSection={<Icon name="restart" size={15} />}
            onClick={() => setOpen('reboot')}
          >
            {w.reboot}
          </ActionButton>
          <ActionButton
            vm={vm}
            action="stop"
            variant="default"
            leftSection={<Icon name="stop" size={15} />}
            onClick={() => setOpen('shutDown')}
          >
            {w.shutDown}
          </ActionButton>
        </>
      )}
      <Menu position="bottom-end" width={180}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={w.powerMenu}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={disabledReason(vm, 'stop') !== null} onClick={() => setOpen('powerOff')}>
            {w.powerOff}
          </Menu.Item>
          <Menu.Item disabled={disabledReason(vm, 'restart') !== null} onClick={() => setOpen('reset')}>
            {w.reset}
          </Menu.Item>
          <Menu.Item disabled={disabledReason(vm, rescueVerb) !== null} onClick={() => setIsRescuing(true)}>
            {w[rescueVerb]}
          </Menu.Item>
          <Menu.Item disabled={disabledReason(vm, isoVerb) !== null} onClick={() => setIsChangingIso(true)}>
            {w[isoVerb]}
          </Menu.Item>
          <Menu.Item disabled={disabledReason(vm, 'shelve') !== null} onClick={() => setShelving('shelve')}>
            {w.shelve}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open && <ConfirmPower vm={vm} verb={open} onClose={() => setOpen(null)} />}
      {isRescuing && <ConfirmRescue vm={vm} onClose={() => setIsRescuing(false)} />}
      {isChangingIso && <ConfirmIso vm={vm} onClose={() => setIsChangingIso(false)} />}
      {shelving && <ConfirmShelving vm={vm} verb={shelving} onClose={() => setShelving(null)} />}
    </>
  )
}

function ConfirmPower({ vm, verb, onClose }: { vm: Vm; verb: Verb; onClose: () => void }) {
  const { send, successMessage, danger } = CONFIRMED[verb]
  const write = useWrite<void, unknown>(() => send(vm.id), { invalidates, successMessage, inForm: true })
  return (
    <ConfirmDialog title={w.powerTitles[verb](vm.name)} submit={w[verb]} write={write} onClose={onClose} danger={danger}>
      {w.powerAbout[verb]}
    </ConfirmDialog>
  )
}
