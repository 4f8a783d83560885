import type * as en from '../en/operator.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { operatorMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/operator.ts') : await import('../en/operator.ts')
