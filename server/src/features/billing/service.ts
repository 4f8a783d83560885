import { addDuration } from '../../kernel/clock.ts'
import type { Renewals } from '../wallet/service.ts'
import * as sql from './sql.ts'

export const FORECAST = '7d'

/** Forecast of the renewals of a payer and its projects; overdue ones count as due. */
export const forecast: Renewals = async (db, now, accountId) => {
  const { due, monthly } = await sql.sumDue(db, accountId, addDuration(now, FORECAST))
  return { dueNext7Days: due, monthly }
}
