import type * as en from '../en/operator-vms.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { operatorVmMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/operator-vms.ts') : await import('../en/operator-vms.ts')
