import { Progress } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { actionQuery } from '../../queries/vms.ts'
import { formatDuration } from '../../ui/format.ts'
import { Card, Stack } from '../../ui/Page.tsx'
import { Steps } from '../../ui/Steps.tsx'
import { useNow } from '../../ui/Time.tsx'
import { vmMessages as w, vmsMessages } from '../../words/words.ts'

/** Progress of the current action. The action id comes from the server, so a reload shows the same action. */
export function ActionProgress({ vmId, current }: { vmId: string; current: NonNullable<Vm['currentAction']> }) {
  const { data: action } = useQuery(actionQuery(vmId, current.id))
  const now = useNow(1_000)
  const name = vmsMessages.actionNames[current.action] ?? current.action
  const progress = action?.progress ?? current.progress
  const about = action && w.elapsed(formatDuration(now - Date.parse(action.startedAt ?? action.createdAt)))
  return (
    <Card title={name} about={about}>
      <Stack gap={16}>
        <Progress value={progress} size="sm" color="yellow.6" aria-label={vmsMessages.progressOf(name)} />
        {action && <Steps steps={action.steps} />}
      </Stack>
    </Card>
  )
}
