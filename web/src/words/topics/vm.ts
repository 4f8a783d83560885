import type * as en from '../en/vm.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { vmMessages }: Translated<typeof en> = language === 'de' ? await import('../de/vm.ts') : await import('../en/vm.ts')
