import type * as en from '../en/units.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { unitMessages }: Translated<typeof en> = language === 'de' ? await import('../de/units.ts') : await import('../en/units.ts')
