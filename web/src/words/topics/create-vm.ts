import type * as en from '../en/create-vm.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { createVmMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/create-vm.ts') : await import('../en/create-vm.ts')
