import type * as en from '../en/members.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { memberMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/members.ts') : await import('../en/members.ts')
