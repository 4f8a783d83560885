import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { sessionsQuery, type SessionEntry } from '../../api/session.ts'
import { Card } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, settingsMessages } from '../../words/words.ts'
import { deviceOf } from './device.ts'

const w = settingsMessages.sessions

export function Sessions() {
  const sessions = useQuery(sessionsQuery)
  const end = useWrite((id: string) => apiRequest('DELETE', `/sessions/${id}`), { invalidates: ['sessions'], successMessage: w.signedOut })
  const endOthers = useWrite(() => apiRequest('DELETE', '/sessions'), { invalidates: ['sessions'], successMessage: w.othersSignedOut })
  const columns: Column<SessionEntry>[] = [
    { head: w.device, cell: ({ userAgent }) => <strong>{deviceOf(userAgent)}</strong> },
    { head: w.address, cell: ({ ip }) => <code>{ip}</code> },
    { head: w.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { head: w.lastSeen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} as="ago" /> },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: ({ id, isCurrent, userAgent }) =>
        isCurrent ? (
          <Status tone="good">{w.current}</Status>
        ) : (
          <Button variant="default" size="xs" aria-label={w.signOutOf(deviceOf(userAgent))} onClick={() => end.mutate(id)}>
            {w.signOut}
          </Button>
        ),
    },
  ]
  const others = (
    <Button variant="default" size="xs" loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
      {w.signOutOthers}
    </Button>
  )
  return (
    <Card flush title={settingsMessages.tabs.sessions} about={w.about} actions={(sessions.data?.length ?? 0) > 1 && others}>
      <Loaded of={sessions}>
        {(all) => <Table caption={settingsMessages.tabs.sessions} columns={columns} rows={all} rowKey={({ id }) => id} />}
      </Loaded>
    </Card>
  )
}
