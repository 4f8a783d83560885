import type * as en from '../en/budgets.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { budgetMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/budgets.ts') : await import('../en/budgets.ts')
