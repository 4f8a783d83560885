import type * as en from '../en/vms.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { vmsMessages }: Translated<typeof en> = language === 'de' ? await import('../de/vms.ts') : await import('../en/vms.ts')
