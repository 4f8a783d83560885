import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { vmMessages as w } from '../../words/words.ts'
import { ActionButton } from './ActionButton.tsx'
import { ConfirmShelving } from './Shelving.tsx'
import { VmMenu } from './VmMenu.tsx'

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
  const [isUnshelving, setIsUnshelving] = useState(false)
  const isShelved = vm.shelvedAt !== null
  const start = useWrite(() => berth.vms.start(vm.id), { invalidates, successMessage: w.started.start })
  const stopped = vm.status === 'STOPPED' || (vm.status === 'ERROR' && vm.allowedActions.includes('start'))
  return (
    <>
      {isShelved ? (
        <ActionButton vm={vm} action="unshelve" leftSection={<Icon name="play" size={15} />} onClick={() => setIsUnshelving(true)}>
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
      <VmMenu vm={vm} onPowerOff={() => setOpen('powerOff')} onReset={() => setOpen('reset')} />
      {open && <ConfirmPower vm={vm} verb={open} onClose={() => setOpen(null)} />}
      {isUnshelving && <ConfirmShelving vm={vm} verb="unshelve" onClose={() => setIsUnshelving(false)} />}
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
