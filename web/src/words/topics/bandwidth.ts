import type * as en from '../en/bandwidth.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { bandwidthMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/bandwidth.ts') : await import('../en/bandwidth.ts')
