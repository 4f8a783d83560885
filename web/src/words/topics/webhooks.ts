import type * as en from '../en/webhooks.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { webhookMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/webhooks.ts') : await import('../en/webhooks.ts')
