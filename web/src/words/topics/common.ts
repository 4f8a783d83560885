import type * as en from '../en/common.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { commonMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/common.ts') : await import('../en/common.ts')
