import { isInProject } from '../../http/api/principal.ts'
import { Type } from '../../http/api/schema.ts'
import { findView, projectHolder } from '../budgets/service.ts'
import type { Routes } from '../deps.ts'
import { Account, AccountLimit } from './schema.ts'
import { getAccount, listQuotas } from './service.ts'
import { toAccount, toLimit } from './view.ts'

const tag = 'Account'
const scope = 'account:read'

export const accountRoutes: Routes = (api, { db, clock }) => {
  api.get(
    '/account',
    { operationId: 'getAccount', summary: 'Get the account the token belongs to', tag, scope, data: Account },
    async ({ principal: { accountId, payerId } }) => {
      const [account, payer] = await Promise.all([getAccount(db, accountId), getAccount(db, payerId)])
      const requires_totp = account.requires_totp || payer.requires_totp
      return toAccount({ ...account, requires_totp }, await findView(db, clock.now(), projectHolder(accountId)))
    },
  )

  api.get(
    '/account/limits',
    {
      operationId: 'listAccountLimits',
      summary: "List the account's limits and how much of each is in use",
      tag,
      scope,
      data: Type.Array(AccountLimit),
    },
    async ({ principal }) =>
      (await listQuotas(db, principal.accountId)).map(toLimit).filter(({ name }) => name !== 'projects' || !isInProject(principal)),
  )
}
