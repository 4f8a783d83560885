import type * as en from '../en/announcements.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { announcementMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/announcements.ts') : await import('../en/announcements.ts')
