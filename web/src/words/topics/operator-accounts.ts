import type * as en from '../en/operator-accounts.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { operatorAccountMessages, visitMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/operator-accounts.ts') : await import('../en/operator-accounts.ts')
