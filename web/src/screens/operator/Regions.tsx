import { Switch, TextInput } from '@mantine/core'
import type { Region } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRegionsQuery, operatorRequest } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import type { Column } from '../../ui/Table.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { CatalogList } from './CatalogList.tsx'

const w = operatorMessages.regions

const COLUMNS: Column<Region>[] = [
  { head: w.city, cell: ({ city }) => city },
  { head: w.country, cell: ({ country, flag }) => `${flag} ${country}` },
]

export default function Regions() {
  const regions = useQuery(operatorRegionsQuery)
  return (
    <CatalogList
      messages={w}
      icon="pin"
      of={regions}
      columns={COLUMNS}
      dialog={(region, onClose) => <RegionDialog region={region} onClose={onClose} />}
    />
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
