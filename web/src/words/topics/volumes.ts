import type * as en from '../en/volumes.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { volumeMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/volumes.ts') : await import('../en/volumes.ts')
