import type * as en from '../en/addresses.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { addressMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/addresses.ts') : await import('../en/addresses.ts')
