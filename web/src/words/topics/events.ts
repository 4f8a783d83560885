import type * as en from '../en/events.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { eventMessages, eventSentences }: Translated<typeof en> =
  language === 'de' ? await import('../de/events.ts') : await import('../en/events.ts')
