import type { Queries, Tx } from '../../kernel/database/db.ts'
import type { EventDeps } from '../deps.ts'
import { listForStaff, replyAsStaff, showToStaff } from '../support/staff.ts'
import type { TicketStatus } from '../support/schema.ts'
import type { StaffReply } from './tickets.schema.ts'

const named = <T extends { account: string }>({ account, ...ticket }: T) => ({ ...ticket, email: account })

export const showTickets = async (db: Queries, filter: { account?: string; status?: TicketStatus }) =>
  (await listForStaff(db, { accountId: filter.account ?? null, status: filter.status ?? null })).map(named)

export const showTicket = async (db: Queries, id: string) => named(await showToStaff(db, id))

export const reply = (tx: Tx, deps: EventDeps, id: string, { body, close }: StaffReply) => replyAsStaff(tx, deps, id, body, close)
