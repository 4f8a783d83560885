import type * as en from '../en/branding.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { brandingMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/branding.ts') : await import('../en/branding.ts')
