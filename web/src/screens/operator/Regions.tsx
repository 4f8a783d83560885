import { Button, Switch, TextInput } from '@mantine/core'
import type { Region } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRegionsQuery, operatorRequest } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { commonMessages } from '../../messages/common.ts'
import { operatorMessages } from '../../messages/operator.ts'
import { List } from './List.tsx'

const w = operatorMessages.regions

export default function Regions() {
  const [edited, setEdited] = useState<Region | 'new' | null>(null)
  const regions = useQuery(operatorRegionsQuery)
  const columns: Column<Region>[] = [
    {
      head: w.name,
      cell: ({ name, slug }) => (
        <div>
          <strong>{name}</strong>
          <div className="muted">{slug}</div>
        </div>
      ),
    },
    { head: w.city, cell: ({ city }) => city },
    { head: w.country, cell: ({ country, flag }) => `${flag} ${country}` },
    {
      head: w.availability,
      cell: ({ available }) => <Status tone={available ? 'good' : 'idle'}>{available ? w.available : w.unavailable}</Status>,
    },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (region) => (
        <Button variant="default" size="xs" aria-label={`${w.edit}: ${region.name}`} onClick={() => setEdited(region)}>
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
    <List messages={w} icon="pin" of={regions} columns={columns} rowKey={({ id }) => id} actions={add}>
      {edited && <RegionDialog region={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </List>
  )
}

const FIRST = { slug: '', name: '', city: '', country: '', available: true }
const FIELDS = ['name', 'slug', 'city', 'country'] as const

/** Creates a region, or edits the given one; its slug stays. */
function RegionDialog({ region, onClose }: { region?: Region; onClose: () => void }) {
  const [values, setValues] = useState<typeof FIRST>(region ?? FIRST)
  const set = (change: Partial<typeof FIRST>): void => setValues((now) => ({ ...now, ...change }))
  const { slug, name, city, country, available } = values
  const changeable = { name, city, country: country.toUpperCase(), available }
  const save = useWrite(
    () =>
      region ? operatorRequest('PATCH', `/regions/${region.id}`, changeable) : operatorRequest('POST', '/regions', { ...changeable, slug }),
    { inForm: true, invalidates: ['operator', 'regions'], successMessage: region ? commonMessages.saved : w.created, onDone: onClose },
  )
  return (
    <Dialog title={region ? w.edit : w.create} onClose={onClose}>
      <Form onSubmit={() => save.mutate()} busy={save.isPending} error={save.error} submit={commonMessages.save} onCancel={onClose}>
        {FIELDS.filter((field) => !region || field !== 'slug').map((field) => (
          <TextInput
            key={field}
            label={w[field]}
            {...(field === 'country' && { description: w.countryHint })}
            value={values[field]}
            onChange={(event) => set({ [field]: event.currentTarget.value })}
            error={fieldError(save.error, field)}
            {...(field === 'name' && { 'data-autofocus': true })}
          />
        ))}
        <Switch label={w.availableToCustomers} checked={available} onChange={(event) => set({ available: event.currentTarget.checked })} />
      </Form>
    </Dialog>
  )
}
