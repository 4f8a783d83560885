// Expires deposits that nobody paid, so that they no longer count as open. Money that arrives later is credited all the same.
import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import { expireOpen } from './sql.ts'

/** Longer than a bank transfer takes. Stripe's checkout sessions expire after a day, by an event of their own. */
const OPEN_FOR = '14d'

export const expireDeposits = reconciler('payments.expire', '10m', ({ db, clock }) =>
  expireOpen(db, subtractDuration(clock.now(), OPEN_FOR), clock.now()),
)
