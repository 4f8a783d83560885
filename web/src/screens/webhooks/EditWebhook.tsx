import { Checkbox, TextInput } from '@mantine/core'
import { WEBHOOK_EVENTS, type Body, type Webhook, type WebhookWithSecret } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Stack } from '../../ui/Page.tsx'
import { commonMessages } from '../../messages/common.ts'
import { webhookMessages as w } from '../../messages/webhooks.ts'

interface Props {
  webhook?: Webhook
  onClose: () => void
  onCreated?: (webhook: WebhookWithSecret) => void
}

/** Creates a webhook, or edits the given one. */
export function EditWebhook({ webhook, onClose, onCreated }: Props) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [events, setEvents] = useState<string[]>(webhook?.events ?? ['vm.created', 'vm.terminated'])
  const body = { url, description, events } as Body<'createWebhook'>
  const save = useWrite<void, Webhook | WebhookWithSecret>(
    () => (webhook ? berth.webhooks.update(webhook.id, body) : berth.webhooks.create(body)),
    {
      inForm: true,
      invalidates: ['webhooks', 'limits'],
      ...(webhook && { successMessage: w.saved }),
      onDone: (saved) => {
        onClose()
        if ('secret' in saved) onCreated?.(saved)
      },
    },
  )
  return (
    <Dialog title={webhook ? w.edit : w.create} onClose={onClose} size="lg">
      <Form
        onSubmit={() => save.mutate()}
        busy={save.isPending}
        error={save.error}
        submit={webhook ? commonMessages.save : w.create}
        onCancel={onClose}
        disabled={url === '' || events.length === 0}
      >
        <TextInput
          label={w.url}
          description={w.urlHint}
          type="url"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value.trim())}
          error={fieldError(save.error, 'url')}
          data-autofocus
        />
        <Checkbox.Group label={w.events} value={events} onChange={setEvents} error={fieldError(save.error, 'events')}>
          <Stack gap={8}>
            <div />
            {WEBHOOK_EVENTS.map((name) => (
              <Checkbox key={name} value={name} label={<code>{name}</code>} />
            ))}
          </Stack>
        </Checkbox.Group>
        <TextInput
          label={w.description}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          maxLength={200}
        />
      </Form>
    </Dialog>
  )
}
