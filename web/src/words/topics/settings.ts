import type * as en from '../en/settings.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { limitName, settingsMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/settings.ts') : await import('../en/settings.ts')
