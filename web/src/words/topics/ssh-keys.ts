import type * as en from '../en/ssh-keys.ts'
import { language } from '../language.ts'
import type { Translated } from '../translated.ts'

export const { sshKeyMessages }: Translated<typeof en> =
  language === 'de' ? await import('../de/ssh-keys.ts') : await import('../en/ssh-keys.ts')
