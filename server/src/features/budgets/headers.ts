// What is left of a budget is told with every answer, the refusals too; not by those of rate limits, which cost no query.
import type { FastifyInstance } from 'fastify'
import { formatCents } from '../../kernel/money.ts'
import type { Deps } from '../deps.ts'
import { findLeft } from './service.ts'

const MONEY = 'x-budget-remaining'
const VMS = 'x-budget-vms-remaining'
export const BUDGET_HEADERS = [MONEY, VMS]

export const sendBudgetHeaders =
  ({ db, clock }: Pick<Deps, 'db' | 'clock'>) =>
  (scope: FastifyInstance): void => {
    scope.addHook('onSend', async (request, reply) => {
      const principal = request.principal as typeof request.principal | null
      if (reply.statusCode === 429 || principal?.hasBudget !== true) return
      const left = await findLeft(db, clock.now(), principal).catch(() => null) // the answer itself is there
      if (left && left.cents !== null) reply.header(MONEY, formatCents(left.cents))
      if (left && left.vms !== null) reply.header(VMS, left.vms)
    })
  }
