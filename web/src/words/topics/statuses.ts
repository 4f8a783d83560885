import type * as en from '../en/statuses.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { actionTitles, backupTypes, healthCounts, statusNames }: Translated<typeof en> =
  language === 'de' ? await import('../de/statuses.ts') : await import('../en/statuses.ts')
