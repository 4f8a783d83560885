import type * as en from '../en/tickets.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { ticketMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/tickets.ts') : await import('../en/tickets.ts')
