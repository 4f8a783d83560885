import type { NewToken } from '@berth/sdk'
import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { scopesQuery } from '../../api/keys.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { settingsMessages } from '../../words/words.ts'
import { BudgetFields, NO_BUDGET, toBudget } from '../../ui/Budget.tsx'
import { ScopeGrid } from './ScopeGrid.tsx'

const w = settingsMessages.keys
const DAY_MS = 86_400_000

export function CreateKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: NewToken) => void }) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [days, setDays] = useState('90')
  const [addresses, setAddresses] = useState('')
  const [budget, setBudget] = useState(NO_BUDGET)
  const scopes = useQuery(scopesQuery)
  const create = useWrite(
    () =>
      berth.tokens.create({
        name,
        scopes: [...chosen],
        expiresAt: days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
        allowedIps: addresses.split(/[\s,]+/).filter(Boolean),
        budget: toBudget(budget),
      }),
    { inForm: true, invalidates: ['api-keys'], onDone: onCreated },
  )
  return (
    <Dialog title={w.create} onClose={onClose} size="xl">
      <Form
        onSubmit={() => create.mutate()}
        busy={create.isPending}
        error={create.error}
        submit={w.create}
        onCancel={onClose}
        disabled={name === '' || chosen.size === 0}
      >
        <TextInput
          label={w.name}
          description={w.nameHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(create.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        <Loaded of={scopes}>{(all) => <ScopeGrid scopes={all} chosen={chosen} onChange={setChosen} />}</Loaded>
        <NativeSelect
          label={w.expiry}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
          data={['7', '30', '90', '365', ''].map((value) => ({ value, label: w.expiries[value]! }))}
          maw={220}
        />
        <TextInput
          label={w.addresses}
          description={w.addressesHint}
          value={addresses}
          onChange={(event) => setAddresses(event.currentTarget.value)}
          error={fieldError(create.error, 'allowedIps')}
        />
        <BudgetFields value={budget} onChange={setBudget} error={create.error} />
      </Form>
    </Dialog>
  )
}
