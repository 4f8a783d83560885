import type * as en from '../en/firewalls.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { firewallMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/firewalls.ts') : await import('../en/firewalls.ts')
