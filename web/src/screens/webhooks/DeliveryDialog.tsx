import type { WebhookAttempt } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { deliveryQuery } from '../../queries/webhooks.ts'
import { Code } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Stack } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Time } from '../../ui/Time.tsx'
import { webhookMessages as w } from '../../words/words.ts'

const pretty = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json // not JSON: shown unformatted
  }
}

export function DeliveryDialog({ webhookId, deliveryId, onClose }: { webhookId: string; deliveryId: string; onClose: () => void }) {
  const delivery = useQuery(deliveryQuery(webhookId, deliveryId))
  return (
    <Dialog title={w.delivery} onClose={onClose} size="xl">
      <Loaded of={delivery}>
        {({ id, requestBody, log }) => (
          <Stack gap={16}>
            <code className="muted">{id}</code>
            <h3>{w.body}</h3>
            <Code text={pretty(requestBody)} what={w.body} />
            {log.map((attempt, index) => (
              <Attempt key={attempt.attemptedAt} attempt={attempt} number={index + 1} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Dialog>
  )
}

const Attempt = ({ attempt, number }: { attempt: WebhookAttempt; number: number }) => (
  <Stack gap={8}>
    <h3>{w.attempt(number)}</h3>
    <p>
      {w.attemptResult(attempt.responseStatus, attempt.latencyMs)} · <Time at={attempt.attemptedAt} />
    </p>
    {attempt.error && <p className="muted">{attempt.error}</p>}
    <Code
      text={Object.entries(attempt.requestHeaders)
        .map(([name, value]) => `${name}: ${String(value)}`)
        .join('\n')}
      what={w.headers}
    />
    <Code text={attempt.responseBody || w.emptyBody} what={w.responseBody} />
  </Stack>
)
