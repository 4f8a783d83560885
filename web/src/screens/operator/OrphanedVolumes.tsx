import { useQuery } from '@tanstack/react-query'
import { orphanedVolumesQuery, type OrphanedVolume } from '../../api/operator.ts'
import { formatBytes } from '../../ui/format.ts'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { operatorMessages } from '../../words/words.ts'
import { List } from './List.tsx'

const w = operatorMessages.orphanedVolumes

const COLUMNS: Column<OrphanedVolume>[] = [
  { head: w.id, cell: ({ id }) => <code>{id}</code> },
  { head: w.kind, cell: ({ kind }) => kind },
  { head: w.host, cell: ({ host }) => host },
  { head: w.reason, cell: ({ reason }) => reason },
  { head: w.size, cell: ({ sizeBytes }) => formatBytes(sizeBytes), right: true },
  { head: w.seen, cell: ({ firstSeenAt }) => <Time at={firstSeenAt} />, right: true },
  { head: w.removed, cell: ({ removedAfter }) => <Time at={removedAfter} />, right: true },
]

export default function OrphanedVolumes() {
  const strays = useQuery(orphanedVolumesQuery)
  return (
    <List messages={w} icon="lock" of={strays} columns={COLUMNS} rowKey={({ host, id, generation }) => `${host}/${id}/${generation}`} />
  )
}
