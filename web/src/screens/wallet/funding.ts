import type { Session } from '../../api/session.ts'
import { walletMessages } from '../../words/words.ts'

const w = walletMessages.funding

export interface Funding {
  to: string
  button: string
  about: string
}

/** How this user gets money into the wallet: by a deposit; without a payment provider operators give credit, and customers ask support. */
export function fundingOf({ settings, user, account }: Session): Funding {
  if (settings.depositsOpen) return { to: '/wallet', ...w.deposit }
  return user.isOperator && account ? { to: `/operator/accounts/${account.id}`, ...w.credit } : { to: '/tickets', ...w.support }
}
