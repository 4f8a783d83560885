import type * as en from '../en/home.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { homeMessages }: Translated<typeof en> = language === 'de' ? await import('../de/home.ts') : await import('../en/home.ts')
