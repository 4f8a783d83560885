import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operatorTemplatesQuery, type Template } from '../../api/operator.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { formatBytes, formatOs } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status, type Tone } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorMessages, templateMessages } from '../../words/words.ts'
import { ImportTemplate } from './ImportTemplate.tsx'
import { List } from './List.tsx'
import { TemplateImports } from './TemplateImports.tsx'

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
  const [open, setOpen] = useState<Template | 'new' | null>(null)
  const templates = useQuery(operatorTemplatesQuery)
  const current = (templates.data ?? []).filter(({ state }) => state !== 'deprecated')
  const menu: Column<Template> = {
    head: commonMessages.actions,
    quiet: true,
    shrink: true,
    right: true,
    cell: (each) =>
      each.state !== 'deprecated' && (
        <RowMenu name={formatOs(each)} items={[{ label: templateMessages.importAction, onClick: () => setOpen(each) }]} />
      ),
  }
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen('new')}>
      {templateMessages.open}
    </Button>
  )
  return (
    <List messages={w} icon="box" of={templates} columns={[...COLUMNS, menu]} rowKey={({ id }) => id} actions={create}>
      <TemplateImports />
      {open !== null && <ImportTemplate templates={current} {...(open !== 'new' && { template: open })} onClose={() => setOpen(null)} />}
    </List>
  )
}
