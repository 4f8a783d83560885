import type * as en from '../en/projects.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { projectMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/projects.ts') : await import('../en/projects.ts')
