import type * as en from '../en/revenue.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { revenueMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/revenue.ts') : await import('../en/revenue.ts')
