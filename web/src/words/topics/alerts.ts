import type * as en from '../en/alerts.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { alertMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/alerts.ts') : await import('../en/alerts.ts')
