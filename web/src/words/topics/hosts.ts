import type * as en from '../en/hosts.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { hostMessages }: Translated<typeof en> = language === 'de' ? await import('../de/hosts.ts') : await import('../en/hosts.ts')
