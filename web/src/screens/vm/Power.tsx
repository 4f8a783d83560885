import { ActionIcon, Menu } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { Confirm } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { vmWords as w } from '../../messages/vm.ts'
import { Verb, whyNot } from './ActionButton.tsx'

const changes = ['vm', 'vms', 'actions']

export function Power({ vm }: { vm: Vm }) {
  const [asks, setAsks] = useState<'stop' | 'force' | 'reset' | null>(null)
  const start = useWrite(() => berth.vms.start(vm.id), { changes, says: w.started.start })
  const restart = useWrite(() => berth.vms.restart(vm.id), { changes, says: w.started.restart })
  const stop = useWrite(() => berth.vms.stop(vm.id), { changes, says: w.started.stop, inForm: true })
  const force = useWrite(() => berth.vms.stop(vm.id, { force: true }), { changes, says: w.started.stop, inForm: true })
  const reset = useWrite(() => berth.vms.restart(vm.id, { force: true }), { changes, says: w.started.restart, inForm: true })
  const close = (): void => setAsks(null)
  const stopped = vm.status === 'STOPPED' || (vm.status === 'ERROR' && vm.allowedActions.includes('start'))
  return (
    <>
      {stopped ? (
        <Verb vm={vm} verb="start" leftSection={<Icon name="play" size={15} />} loading={start.isPending} onClick={() => start.mutate()}>
          {w.start}
        </Verb>
      ) : (
        <>
          <Verb
            vm={vm}
            verb="restart"
            variant="default"
            leftSection={<Icon name="restart" size={15} />}
            loading={restart.isPending}
            onClick={() => restart.mutate()}
          >
            {w.restart}
          </Verb>
          <Verb vm={vm} verb="stop" variant="default" leftSection={<Icon name="stop" size={15} />} onClick={() => setAsks('stop')}>
            {w.stop}
          </Verb>
        </>
      )}
      <Menu position="bottom-end" width={180}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={w.powerMenu}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={whyNot(vm, 'stop') !== null} onClick={() => setAsks('force')}>
            {w.forceStop}
          </Menu.Item>
          <Menu.Item disabled={whyNot(vm, 'restart') !== null} onClick={() => setAsks('reset')}>
            {w.forceRestart}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asks === 'stop' && (
        <Confirm title={w.stopTitle(vm.name)} submit={w.stop} write={stop} onClose={close}>
          {w.stopAbout}
        </Confirm>
      )}
      {(asks === 'force' || asks === 'reset') && (
        <Confirm
          title={w.forceTitle(vm.name)}
          submit={asks === 'force' ? w.forceStop : w.forceRestart}
          write={asks === 'force' ? force : reset}
          onClose={close}
        >
          {w.forceAbout}
        </Confirm>
      )}
    </>
  )
}
