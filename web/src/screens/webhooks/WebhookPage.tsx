import { Alert, Button } from '@mantine/core'
import type { Webhook, WebhookWithSecret } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { webhookQuery } from '../../queries/webhooks.ts'
import { ConfirmDialog, SecretDialog } from '../../ui/Dialogs.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Page, Row } from '../../ui/Page.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { webhookMessages as w } from '../../words/words.ts'
import { Deliveries } from './Deliveries.tsx'
import { EditWebhook } from './EditWebhook.tsx'
import { WebhookState } from './WebhookState.tsx'

export default function WebhookPage() {
  const { webhookId = '' } = useParams({ strict: false })
  const webhook = useQuery(webhookQuery(webhookId))
  return (
    <Loaded isPage of={webhook}>
      {(data) => <WebhookView webhook={data} />}
    </Loaded>
  )
}

const invalidates = ['webhooks', 'deliveries']

function WebhookView({ webhook }: { webhook: Webhook }) {
  const [open, setOpen] = useState<'edit' | 'rotate' | 'delete' | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const close = (): void => setOpen(null)
  const { id, isActive } = webhook
  const test = useWrite(() => berth.webhooks.test(id), { invalidates, successMessage: ({ message }) => message })
  const toggle = useWrite(() => berth.webhooks.update(id, { isActive: !isActive }), {
    invalidates,
    successMessage: isActive ? w.disabledNow : w.enabledNow,
  })
  const actions = (
    <>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        {w.test}
      </Button>
      <Button variant="default" onClick={() => setOpen('edit')}>
        {w.edit}
      </Button>
      <RowMenu
        name={webhook.url}
        items={[
          { label: isActive ? w.disable : w.enable, onClick: () => toggle.mutate() },
          { label: w.rollSecret, onClick: () => setOpen('rotate') },
          { label: w.delete, onClick: () => setOpen('delete'), danger: true },
        ]}
      />
    </>
  )
  const about = (
    <Row gap={16}>
      <WebhookState webhook={webhook} />
      <span>{webhook.events.join(', ')}</span>
    </Row>
  )
  return (
    <Page title={webhook.url} about={about} above={<TextLink to="/webhooks">{w.back}</TextLink>} actions={actions}>
      {webhook.disabledReason && <Alert color="red">{webhook.disabledReason}</Alert>}
      <Deliveries webhookId={id} />
      {open === 'edit' && <EditWebhook webhook={webhook} onClose={close} />}
      {open === 'rotate' && <RollSecret id={id} onClose={close} onRolled={(made) => setSecret(made.secret)} />}
      {open === 'delete' && <DeleteWebhook id={id} onClose={close} />}
      {secret && (
        <SecretDialog
          label={w.secret}
          secret={secret}
          about={w.secretAbout}
          hint={<p className="muted">{w.secretHint}</p>}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  )
}

function RollSecret({ id, onClose, onRolled }: { id: string; onClose: () => void; onRolled: (made: WebhookWithSecret) => void }) {
  const write = useWrite<void, WebhookWithSecret>(() => berth.webhooks.rotateSecret(id), { inForm: true, invalidates, onDone: onRolled })
  return (
    <ConfirmDialog title={w.rollSecretTitle} submit={w.rollSecret} write={write} onClose={onClose}>
      {w.rollSecretAbout}
    </ConfirmDialog>
  )
}

function DeleteWebhook({ id, onClose }: { id: string; onClose: () => void }) {
  const navigate = useNavigate()
  const write = useWrite(() => berth.webhooks.delete(id), {
    inForm: true,
    invalidates: ['limits'],
    successMessage: w.deleted,
    onDone: () => navigate({ to: '/webhooks' }),
  })
  return (
    <ConfirmDialog title={w.deleteTitle} submit={w.delete} write={write} onClose={onClose}>
      {w.deleteAbout}
    </ConfirmDialog>
  )
}
