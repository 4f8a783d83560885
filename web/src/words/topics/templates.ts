import type * as en from '../en/templates.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { templateMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/templates.ts') : await import('../en/templates.ts')
