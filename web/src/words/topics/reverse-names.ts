import type * as en from '../en/reverse-names.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { reverseNameMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/reverse-names.ts') : await import('../en/reverse-names.ts')
