import type { Webhook } from '@berth/sdk'
import { Status } from '../../ui/Status.tsx'
import { webhookMessages as w } from '../../words/words.ts'

export function WebhookState({ webhook: { isActive, disabledReason, failCount } }: { webhook: Webhook }) {
  if (!isActive) return <Status tone={disabledReason ? 'bad' : 'idle'}>{disabledReason ? w.disabled : w.off}</Status>
  return failCount > 0 ? <Status tone="held">{w.failing(failCount)}</Status> : <Status tone="good">{w.active}</Status>
}
