import type * as en from '../en/audit.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { auditMessages }: Translated<typeof en> = language === 'de' ? await import('../de/audit.ts') : await import('../en/audit.ts')
