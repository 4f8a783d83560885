import type * as en from '../en/placement-groups.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { placementGroupMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/placement-groups.ts') : await import('../en/placement-groups.ts')
