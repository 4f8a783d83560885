import type * as en from '../en/steps.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { stepNames }: Translated<typeof en> = language === 'de' ? await import('../de/steps.ts') : await import('../en/steps.ts')
