import { ActionIcon, Menu } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { vmMessages as w } from '../../messages/vm.ts'
import { ActionButton, disabledReason } from './ActionButton.tsx'

const invalidates = ['vm', 'vms', 'actions']

export function Power({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<'shutDown' | 'powerOff' | 'reset' | null>(null)
  const start = useWrite(() => berth.vms.start(vm.id), { invalidates, successMessage: w.started.start })
  const reboot = useWrite(() => berth.vms.restart(vm.id), { invalidates, successMessage: w.started.restart })
  const shutDown = useWrite(() => berth.vms.stop(vm.id), { invalidates, successMessage: w.started.stop, inForm: true })
  const powerOff = useWrite(() => berth.vms.stop(vm.id, { force: true }), {
    invalidates,
    successMessage: w.started.powerOff,
    inForm: true,
  })
  const reset = useWrite(() => berth.vms.restart(vm.id, { force: true }), { invalidates, successMessage: w.started.reset, inForm: true })
  const close = (): void => setOpen(null)
  const stopped = vm.status === 'STOPPED' || (vm.status === 'ERROR' && vm.allowedActions.includes('start'))
  return (
    <>
      {stopped ? (
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
            loading={reboot.isPending}
            onClick={() => reboot.mutate()}
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
        </Menu.Dropdown>
      </Menu>
      {open === 'shutDown' && (
        <ConfirmDialog title={w.shutDownTitle(vm.name)} submit={w.shutDown} write={shutDown} onClose={close}>
          {w.shutDownAbout}
        </ConfirmDialog>
      )}
      {open === 'powerOff' && (
        <ConfirmDialog title={w.powerOffTitle(vm.name)} submit={w.powerOff} write={powerOff} onClose={close}>
          {w.powerOffAbout}
        </ConfirmDialog>
      )}
      {open === 'reset' && (
        <ConfirmDialog title={w.resetTitle(vm.name)} submit={w.reset} write={reset} onClose={close}>
          {w.resetAbout}
        </ConfirmDialog>
      )}
    </>
  )
}
