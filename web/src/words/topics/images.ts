import type * as en from '../en/images.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { imageMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/images.ts') : await import('../en/images.ts')
