import { Button } from '@mantine/core'
import type { Webhook, WebhookWithSecret } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { webhooksQuery } from '../../queries/webhooks.ts'
import { SecretDialog } from '../../ui/Dialogs.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { PagedTable } from '../../ui/PagedTable.tsx'
import { usePaging } from '../../ui/paging.ts'
import { Empty } from '../../ui/AsyncState.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, webhookMessages as w } from '../../words/words.ts'
import { EditWebhook } from './EditWebhook.tsx'
import { WebhookState } from './WebhookState.tsx'

export default function WebhookList() {
  const [creates, setCreates] = useState(false)
  const [made, setMade] = useState<WebhookWithSecret | null>(null)
  const { search } = usePaging()
  const navigate = useNavigate()
  const webhooks = useQuery(webhooksQuery({ page: search.page, limit: search.limit }))
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreates(true)}>
      {w.create}
    </Button>
  )
  const columns: Column<Webhook>[] = [
    {
      head: w.url,
      sort: 'url',
      value: ({ url }) => url,
      truncate: ({ url, description }) => [url, description].filter(Boolean).join(': '),
      cell: ({ id, url, description }) => (
        <div>
          <TextLink to="/webhooks/$webhookId" params={{ webhookId: id }}>
            {url}
          </TextLink>
          <div className="muted">{description}</div>
        </div>
      ),
    },
    { head: w.events, cell: ({ events }) => events.length, right: true },
    { head: w.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
    {
      head: w.lastSuccess,
      sort: 'lastSuccess',
      value: ({ lastSuccessAt }) => lastSuccessAt,
      cell: ({ lastSuccessAt }) => (lastSuccessAt ? <Time at={lastSuccessAt} as="ago" /> : commonMessages.never),
      right: true,
    },
  ]
  return (
    <Page title={w.title} about={w.about} actions={create}>
      <Card flush>
        <PagedTable
          of={webhooks}
          caption={w.title}
          columns={columns}
          empty={<Empty icon="webhook" title={w.emptyTitle} about={w.emptyAbout} action={create} />}
        />
      </Card>
      {creates && <EditWebhook onClose={() => setCreates(false)} onCreated={setMade} />}
      {made && (
        <SecretDialog
          label={w.secret}
          secret={made.secret}
          about={w.secretAbout}
          hint={<p className="muted">{w.secretHint}</p>}
          onClose={() => void navigate({ to: '/webhooks/$webhookId', params: { webhookId: made.id } })}
        />
      )}
    </Page>
  )
}
