import type * as en from '../en/sign-in.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { signInMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/sign-in.ts') : await import('../en/sign-in.ts')
