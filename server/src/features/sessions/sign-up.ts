// Sign-up by those who want an account, where the operator allows it. With an SMTP server the address is confirmed by a link, and the
// response is the same whether there is an account already; without one it cannot be, so only the number of attempts is limited.
import type { Counters } from '../../kernel/database/window-counters.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { ApiError } from '../../kernel/errors.ts'
import { clientNetwork } from '../../kernel/net/client-network.ts'
import { findAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { findByEmail, issueSignUpLink, sendLinkMail } from '../users/service.ts'

const LIFE = '24h'
const MAILS_PER_HOUR = 3
const SIGN_UPS_PER_HOUR = 10
const HOUR_MS = parseDurationMs('1h')

/** Per client, so that few addresses can be probed and few mails sent to strangers. */
export async function limitSignUps(counters: Counters, ip: string): Promise<void> {
  const { count, resetMs } = await counters.add(`sign-ups:${clientNetwork(ip)}`, 1, HOUR_MS)
  if (count <= SIGN_UPS_PER_HOUR) return
  const minutes = Math.max(1, Math.ceil(resetMs / 60_000))
  const message = `Too many sign-ups from your address: try again in ${minutes} minute${minutes === 1 ? '' : 's'}`
  throw new ApiError('rate_limited', message, [], Math.max(1, Math.ceil(resetMs / 1000)))
}

interface Newcomer {
  email: string
  name?: string
  /** Null where it is not known. */
  language: string | null
}

type SignUpDeps = Pick<Deps, 'db' | 'clock' | 'mailer' | 'vault' | 'branding'>

/** `base`: URL of the dashboard, never taken from the request. The password is chosen by who opens the link, not by who asked for it. */
export async function mailSignUp(deps: SignUpDeps, counters: Counters, base: string, who: Newcomer): Promise<void> {
  const { db, clock, vault } = deps
  const user = await findByEmail(db, who.email)
  const exists = user ?? (await findAccount(db, who.email))
  // No email addresses in counter keys. PostgreSQL's lower() equates more spellings than ours, so an account is counted by id.
  const key = exists?.id ?? vault.digest(who.email.toLowerCase()).toString('base64url')
  if ((await counters.add(`sign-up:${key}`, 1, HOUR_MS)).count > MAILS_PER_HOUR) return
  const link = exists ? `${base}/forgot-password` : (await issueSignUpLink(db, clock.now(), who, base, LIFE)).url
  await sendLinkMail(deps, exists?.email ?? who.email, user?.language ?? who.language, {
    kind: exists ? 'sign_up_exists' : 'sign_up',
    values: { link },
  })
}
