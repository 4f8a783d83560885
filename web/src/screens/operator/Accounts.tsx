import { Button, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { accountsQuery, operatorRequest, type AccountRow } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Filters } from '../../ui/Filters.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatMoney } from '../../ui/format.ts'
import { Icon } from '../../ui/Icon.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import { Status } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { operatorMessages } from '../../words/words.ts'

const w = operatorMessages.accounts

const COLUMNS: Column<AccountRow>[] = [
  {
    head: w.email,
    truncate: ({ email, name }) => [email, name].filter(Boolean).join(': '),
    cell: ({ id, email, name }) => (
      <div>
        <TextLink to="/operator/accounts/$accountId" params={{ accountId: id }}>
          {email}
        </TextLink>
        <div className="muted">{name}</div>
      </div>
    ),
  },
  { head: w.balance, cell: ({ balance, currency }) => formatMoney(balance, currency), right: true },
  { head: w.vms, cell: ({ vmCount }) => vmCount, right: true },
  {
    head: w.state,
    cell: ({ suspendedAt }) => <Status tone={suspendedAt ? 'held' : 'good'}>{suspendedAt ? w.suspended : w.active}</Status>,
  },
  { head: w.since, cell: ({ createdAt }) => <Time at={createdAt} as="date" />, right: true },
]

export default function Accounts() {
  const [creates, setCreates] = useState(false)
  const { search, filter } = usePaging()
  const [typed, setTyped] = useState(search.action ?? '')
  const apply = useDebouncedCallback((text: string) => filter({ action: text || undefined }), 300)
  const accounts = useQuery(accountsQuery({ page: search.page, limit: search.limit, q: search.action }))
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreates(true)}>
      {w.create}
    </Button>
  )
  return (
    <Page title={w.title} about={w.about} actions={create}>
      <Card flush>
        <Filters>
          <TextInput
            aria-label={w.search}
            placeholder={w.search}
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value)
              apply(event.currentTarget.value.trim())
            }}
            style={{ flexBasis: 320 }}
          />
        </Filters>
        <PagedTable
          of={accounts}
          caption={w.title}
          columns={COLUMNS}
          empty={<Empty icon="users" title={w.empty} about={search.action ? w.emptyFound : w.emptyAbout} />}
        />
      </Card>
      {creates && <CreateAccount onClose={() => setCreates(false)} />}
    </Page>
  )
}

function CreateAccount({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const navigate = useNavigate()
  const create = useWrite(() => operatorRequest<AccountRow>('POST', '/accounts', { email, ...(name && { name }) }), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.created,
    onDone: ({ id }) => navigate({ to: '/operator/accounts/$accountId', params: { accountId: id } }),
  })
  return (
    <Dialog title={w.create} onClose={onClose}>
      <Form onSubmit={() => create.mutate()} busy={create.isPending} error={create.error} submit={w.create} onCancel={onClose}>
        <TextInput
          label={w.email}
          type="email"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(create.error, 'email')}
          autoComplete="off"
          data-autofocus
        />
        <TextInput label={w.name} value={name} onChange={(event) => setName(event.currentTarget.value)} autoComplete="off" />
      </Form>
    </Dialog>
  )
}
