import type * as en from '../en/networks.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { networkMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/networks.ts') : await import('../en/networks.ts')
