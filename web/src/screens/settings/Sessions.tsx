import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { sessionsQuery, type SessionEntry } from '../../api/session.ts'
import { Card } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonWords } from '../../messages/common.ts'
import { settingsWords } from '../../messages/settings.ts'
import { deviceOf } from './device.ts'

const w = settingsWords.sessions

export function Sessions() {
  const sessions = useQuery(sessionsQuery)
  const end = useWrite((id: string) => ask('DELETE', `/sessions/${id}`), { changes: ['sessions'], says: w.ended })
  const endOthers = useWrite(() => ask('DELETE', '/sessions'), { changes: ['sessions'], says: w.othersEnded })
  const columns: Column<SessionEntry>[] = [
    { head: w.device, cell: ({ userAgent }) => <strong>{deviceOf(userAgent)}</strong> },
    { head: w.address, cell: ({ ip }) => <code>{ip}</code> },
    { head: w.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { head: w.lastSeen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} as="ago" /> },
    {
      head: commonWords.actions,
      quiet: true,
      right: true,
      cell: ({ id, isCurrent, userAgent }) =>
        isCurrent ? (
          <Status tone="good">{w.current}</Status>
        ) : (
          <Button variant="default" size="xs" aria-label={w.endOf(deviceOf(userAgent))} onClick={() => end.mutate(id)}>
            {w.end}
          </Button>
        ),
    },
  ]
  const others = (
    <Button variant="default" size="xs" loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
      {w.endOthers}
    </Button>
  )
  return (
    <Card flush title={settingsWords.tabs.sessions} about={w.about} actions={(sessions.data?.length ?? 0) > 1 && others}>
      <Loaded of={sessions}>
        {(all) => <Table caption={settingsWords.tabs.sessions} columns={columns} rows={all} rowKey={({ id }) => id} />}
      </Loaded>
    </Card>
  )
}
