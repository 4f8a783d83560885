import type { Deps } from '../src/features/deps.ts'
import { confirmPayment, recordDeposit } from '../src/features/payments/service.ts'
import { newId } from '../src/kernel/ids.ts'

/** A payment confirmed by the operator. */
export const deposit = (deps: Pick<Deps, 'db' | 'clock' | 'config' | 'hooks'>, accountId: string, amount: bigint) =>
  deps.db.tx(async (tx) => {
    const begun = { id: newId(), amount, provider: 'manual', checkout: { sessionId: null, checkoutUrl: null, instructions: null } } as const
    const { id } = await recordDeposit(tx, deps, accountId, begun)
    return confirmPayment(tx, deps, id, null)
  })
