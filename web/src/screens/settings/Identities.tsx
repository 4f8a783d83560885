import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { goToProvider, identitiesQuery, type Identity } from '../../api/identities.ts'
import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, settingsMessages } from '../../words/words.ts'

const w = settingsMessages.identities
const HERE = '/settings?tab=security'

/** Nothing where the operator has added no provider. */
export function Identities() {
  const { data } = useQuery(identitiesQuery)
  const [unlinking, setUnlinking] = useState<Identity | null>(null)
  const link = useWrite((provider: string) => goToProvider({ purpose: 'link', provider, next: HERE }))
  const unlink = useWrite(() => apiRequest('DELETE', `/identities/${unlinking?.id}`), {
    inForm: true,
    invalidates: ['identities', 'sessions'],
    successMessage: w.unlinked,
  })
  if (!data || data.identities.length + data.canLink.length === 0) return null
  const columns: Column<Identity>[] = [
    { head: w.provider, cell: ({ provider }) => <strong>{provider.title}</strong> },
    { head: w.label, cell: ({ label }) => label },
    { head: w.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} as="ago" /> },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (identity) => (
        <Button variant="default" size="xs" aria-label={w.unlinkOf(identity.provider.title)} onClick={() => setUnlinking(identity)}>
          {w.unlink}
        </Button>
      ),
    },
  ]
  const offers = data.canLink.map(({ name, title }) => (
    <Button key={name} variant="default" size="xs" loading={link.isPending && link.variables === name} onClick={() => link.mutate(name)}>
      {w.link(title)}
    </Button>
  ))
  return (
    <Card flush title={w.title} about={data.hasPassword ? w.about : w.aboutOnly} actions={offers}>
      {data.identities.length > 0 && <Table caption={w.title} columns={columns} rows={data.identities} rowKey={({ id }) => id} />}
      {unlinking && (
        <ConfirmDialog title={w.unlinkTitle(unlinking.provider.title)} submit={w.unlink} write={unlink} onClose={() => setUnlinking(null)}>
          {w.unlinkAbout}
        </ConfirmDialog>
      )}
    </Card>
  )
}
