import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { backupsQuery } from '../../queries/vms.ts'
import { TextLink } from '../../ui/links.tsx'
import { Card } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'
import { backupState } from './backup-state.ts'
import { Lines } from './Lines.tsx'

const w = vmMessages.backupCard

export function BackupCard({ vm }: { vm: Vm }) {
  const backups = useQuery(backupsQuery(vm.id)).data?.items ?? []
  const state = backupState(backups)
  const link = (text: string, tab: 'copies' | 'settings') => (
    <TextLink to="/vms/$vmId" params={{ vmId: vm.id }} search={{ tab }}>
      {text}
    </TextLink>
  )
  return (
    <Card title={w.title} actions={link(w.all(backups.length), 'copies')}>
      <Lines
        lines={[
          [w.daily, vm.dailyBackupEnabled ? commonMessages.on : link(w.switchOn, 'settings')],
          ...(vm.dailyBackupEnabled ? [[w.next, vm.nextBackupAt ? <Time key="" at={vm.nextBackupAt} /> : w.notPlanned] as const] : []),
          [w.latest, state.latest ? <Time key="" at={state.latest} as="ago" /> : w.never],
          [w.proved, state.proved ? <Time key="" at={state.proved} as="ago" /> : w.notProved],
          ...(state.failed
            ? [
                [
                  w.failed,
                  <Status key="" tone="bad">
                    {state.failed}
                  </Status>,
                ] as const,
              ]
            : []),
        ]}
      />
    </Card>
  )
}
