import type * as en from '../en/wallet.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { walletMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/wallet.ts') : await import('../en/wallet.ts')
