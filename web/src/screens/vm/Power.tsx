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
  const [asks, setAsks] = useState<'stop' | 'force' | 'reset' | null>(null)
  const start = useWrite(() => berth.vms.start(vm.id), { invalidates, successMessage: w.started.start })
  const restart = useWrite(() => berth.vms.restart(vm.id), { invalidates, successMessage: w.started.restart })
  const stop = useWrite(() => berth.vms.stop(vm.id), { invalidates, successMessage: w.started.stop, inForm: true })
  const force = useWrite(() => berth.vms.stop(vm.id, { force: true }), { invalidates, successMessage: w.started.stop, inForm: true })
  const reset = useWrite(() => berth.vms.restart(vm.id, { force: true }), { invalidates, successMessage: w.started.restart, inForm: true })
  const close = (): void => setAsks(null)
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
            loading={restart.isPending}
            onClick={() => restart.mutate()}
          >
            {w.restart}
          </ActionButton>
          <ActionButton
            vm={vm}
            action="stop"
            variant="default"
            leftSection={<Icon name="stop" size={15} />}
            onClick={() => setAsks('stop')}
          >
            {w.stop}
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
          <Menu.Item disabled={disabledReason(vm, 'stop') !== null} onClick={() => setAsks('force')}>
            {w.forceStop}
          </Menu.Item>
          <Menu.Item disabled={disabledReason(vm, 'restart') !== null} onClick={() => setAsks('reset')}>
            {w.forceRestart}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asks === 'stop' && (
        <ConfirmDialog title={w.stopTitle(vm.name)} submit={w.stop} write={stop} onClose={close}>
          {w.stopAbout}
        </ConfirmDialog>
      )}
      {(asks === 'force' || asks === 'reset') && (
        <ConfirmDialog
          title={w.forceTitle(vm.name)}
          submit={asks === 'force' ? w.forceStop : w.forceRestart}
          write={asks === 'force' ? force : reset}
          onClose={close}
        >
          {w.forceAbout}
        </ConfirmDialog>
      )}
    </>
  )
}
