import { Button, Checkbox, Fieldset, SimpleGrid, TextInput } from '@mantine/core'
import { WEBHOOK_EVENTS, type Body, type Webhook, type WebhookWithSecret } from '@berth/sdk'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Stack } from '../../ui/Page.tsx'
import { commonMessages, labelMessages, webhookMessages as w } from '../../words/words.ts'

interface Props {
  webhook?: Webhook
  onClose: () => void
  onCreated?: (webhook: WebhookWithSecret) => void
}

/** `vm.created` belongs to `vm`. */
const EVENT_GROUPS = Object.entries(Object.groupBy(WEBHOOK_EVENTS, (type) => type.split('.')[0]!))

/** Creates a webhook, or edits the given one. */
export function EditWebhook({ webhook, onClose, onCreated }: Props) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [events, setEvents] = useState<string[]>(webhook?.events ?? ['vm.created', 'vm.terminated'])
  const [selector, setSelector] = useState(webhook?.labelSelector ?? '')
  const isAll = events.length === WEBHOOK_EVENTS.length
  const body = { url, description, events, labelSelector: selector.trim() || null } as Body<'createWebhook'>
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
          <Stack gap={12}>
            <div>
              <Button variant="subtle" size="compact-sm" onClick={() => setEvents(isAll ? [] : [...WEBHOOK_EVENTS])}>
                {isAll ? w.selectNone : w.selectAll}
              </Button>
            </div>
            {EVENT_GROUPS.map(([group, types = []]) => (
              <Fieldset key={group} legend={w.eventGroups[group]}>
                <SimpleGrid cols={{ base: 1, sm: 2 }} spacing={8} verticalSpacing={8}>
                  {types.map((type) => (
                    <Checkbox key={type} value={type} label={<code>{type}</code>} />
                  ))}
                </SimpleGrid>
              </Fieldset>
            ))}
          </Stack>
        </Checkbox.Group>
        <TextInput
          label={w.labelSelector}
          description={w.labelSelectorHint}
          placeholder={labelMessages.filterHint}
          value={selector}
          onChange={(event) => setSelector(event.currentTarget.value)}
          error={fieldError(save.error, 'labelSelector')}
          spellCheck={false}
        />
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
