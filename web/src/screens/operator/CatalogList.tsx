// A list of the catalog, plans or regions, whose entries are added and edited in a dialog.
import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { commonMessages } from '../../words/words.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { List, type ListMessages } from './List.tsx'

interface Entry {
  id: string
  name: string
  slug: string
  available: boolean
}

interface Props<E extends Entry> {
  messages: ListMessages & Record<'name' | 'availability' | 'available' | 'unavailable' | 'edit' | 'create', string>
  icon: IconName
  of: UseQueryResult<E[]>
  /** Between the name and the availability. */
  columns: Column<E>[]
  /** Of a new entry where none is given. */
  dialog: (entry: E | undefined, onClose: () => void) => ReactNode
}

export function CatalogList<E extends Entry>({ messages: w, icon, of, columns, dialog }: Props<E>) {
  const [edited, setEdited] = useState<E | 'new' | null>(null)
  const all: Column<E>[] = [
    {
      head: w.name,
      cell: ({ name, slug }) => (
        <div>
          <strong>{name}</strong>
          <div className="muted">{slug}</div>
        </div>
      ),
    },
    ...columns,
    {
      head: w.availability,
      cell: ({ available }) => <Status tone={available ? 'good' : 'idle'}>{available ? w.available : w.unavailable}</Status>,
    },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (entry) => (
        <Button variant="default" size="xs" aria-label={`${w.edit}: ${entry.name}`} onClick={() => setEdited(entry)}>
          {w.edit}
        </Button>
      ),
    },
  ]
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEdited('new')}>
      {w.create}
    </Button>
  )
  return (
    <List messages={w} icon={icon} of={of} columns={all} rowKey={({ id }) => id} actions={add}>
      {edited && dialog(edited === 'new' ? undefined : edited, () => setEdited(null))}
    </List>
  )
}
