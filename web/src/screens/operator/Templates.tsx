import { useQuery } from '@tanstack/react-query'
import { operatorTemplatesQuery, type Template } from '../../api/operator.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatBytes, formatOs } from '../../ui/format.ts'
import { Status, type Tone } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { List } from './List.tsx'

const w = operatorMessages.templates
const TONES: Record<Template['state'], Tone> = {
  available: 'good',
  simulated: 'good',
  deprecated: 'held',
  'not offered': 'idle',
  'no image': 'bad',
}

const COLUMNS: Column<Template>[] = [
  {
    head: w.name,
    cell: ({ name, version, slug, arch }) => (
      <div>
        <strong>{formatOs({ name, version })}</strong>
        <div className="muted">
          {slug} · {arch}
        </div>
      </div>
    ),
  },
  { head: w.state, cell: ({ state }) => <Status tone={TONES[state]}>{w.states[state]}</Status> },
  { head: w.origin, cell: ({ origin, command }) => (command ? <Copyable text={command} what={w.run} /> : origin) },
  { head: w.size, cell: ({ sizeBytes }) => formatBytes(sizeBytes), right: true },
  { head: w.imported, cell: ({ importedAt }) => (importedAt ? <Time at={importedAt} as="date" /> : commonMessages.unknown), right: true },
]

export default function Templates() {
  const templates = useQuery(operatorTemplatesQuery)
  return <List messages={w} icon="box" of={templates} columns={COLUMNS} rowKey={({ id }) => id} />
}
