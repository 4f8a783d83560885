import { VERSION } from '../../kernel/version.ts'
import type { Deps } from '../deps.ts'
import type { BudgetView } from '../budgets/schema.ts'
import type { UserRow } from '../users/service.ts'
import type { Session, SessionEntry } from './schema.ts'
import { scopesOf } from '../accounts/service.ts'
import type { AccountOfUser, SessionRow } from './sql.ts'
import { scopesOfVisit } from './visits.ts'
import type { FoundVisit } from './visits.sql.ts'

export const toSession = (
  { config, payments }: Pick<Deps, 'config' | 'payments'>,
  own: AccountOfUser[],
  chosenId: string,
  budget: BudgetView | null,
  person: UserRow,
  row: SessionRow,
  visited: { row: FoundVisit; homeId: string } | null = null,
): Session => {
  const accounts = visited ? [...own, toVisited(visited.row)] : own
  return {
    user: {
      id: person.id,
      email: person.email,
      name: person.name,
      isOperator: isOperatorIn(
        person,
        accounts.find(({ id }) => id === chosenId),
      ),
      totpEnabled: person.totp_enabled_at !== null,
    },
    account: accounts.filter(({ id }) => id === chosenId).map((row) => toChosen(row, budget))[0] ?? null,
    accounts: accounts.map((each) => ({ ...toOwn(each), role: each.role })),
    visit: visited && {
      accountId: visited.row.account_id,
      email: visited.row.email ?? '',
      reason: visited.row.reason,
      canWrite: visited.row.writes_since !== null,
      homeId: visited.homeId,
      endsAt: visited.row.ends_at.toISOString(),
    },
    settings: { signUpOpen: config.signUp === 'open', depositsOpen: payments !== null, currency: config.currency, version: VERSION },
    reauthenticatedAt: row.authenticated_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  }
}

/** With the scopes of the visit. */
const toVisited = (row: FoundVisit): AccountOfUser => ({
  id: row.account_id,
  name: row.account_name,
  email: row.email,
  requires_totp: row.requires_totp,
  payer_account_id: row.payer_account_id,
  is_inherited: false,
  role: 'custom',
  scopes: scopesOfVisit(row),
})

/** What operators do is recorded in the account that they act in: that must be their own, not one of a customer who invited them. */
export const isOperatorIn = (
  { is_operator, account_id }: Pick<UserRow, 'is_operator' | 'account_id'>,
  account: Pick<AccountOfUser, 'id' | 'role' | 'payer_account_id'> | undefined,
): boolean => is_operator && account?.role === 'owner' && account.payer_account_id === null && [null, account.id].includes(account_id)

const toOwn = ({ id, name, email, payer_account_id }: AccountOfUser) => ({
  id,
  name: name || (email ?? ''),
  isProject: payer_account_id !== null,
})

const toChosen = (row: AccountOfUser, budget: BudgetView | null): NonNullable<Session['account']> => ({
  id: row.id,
  name: row.name,
  role: row.role,
  scopes: [...scopesOf(row)],
  requireTwoFactor: row.requires_totp,
  budget,
  isProject: row.payer_account_id !== null,
})

export const toEntry = (row: SessionRow, currentId: string): SessionEntry => ({
  id: row.id,
  isCurrent: row.id === currentId,
  ip: row.ip,
  userAgent: row.user_agent,
  createdAt: row.created_at.toISOString(),
  lastSeenAt: row.last_seen_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
})
