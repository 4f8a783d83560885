import type * as en from '../en/labels.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { labelMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/labels.ts') : await import('../en/labels.ts')
