import type * as en from '../en/shell.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { shellMessages }: Translated<typeof en> = language === 'de' ? await import('../de/shell.ts') : await import('../en/shell.ts')
