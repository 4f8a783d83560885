import type * as en from '../en/lists.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { listMessages }: Translated<typeof en> = language === 'de' ? await import('../de/lists.ts') : await import('../en/lists.ts')
