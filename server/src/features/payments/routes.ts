import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { CreateDeposit, Deposit } from './schema.ts'
import { beginDeposit, getDeposit, listDeposits, recordDeposit } from './service.ts'

const tag = 'Wallet'

export const depositRoutes: Routes = (api, deps) => {
  api.post(
    '/wallet/deposits',
    {
      operationId: 'createDeposit',
      errorCodes: ['unavailable', 'quota_exceeded', 'service_unavailable'],
      summary: 'Begin a deposit: the answer says where to pay. At most 10 are open at a time',
      tag,
      scope: 'wallet:deposit',
      isOfPayer: true,
      body: CreateDeposit,
      status: 201,
      data: Deposit,
      prepare: ({ principal, body }) => beginDeposit(deps, principal.accountId, body.amount),
    },
    (tx, { principal }, begun) => recordDeposit(tx, deps, principal.accountId, begun),
  )

  api.page(
    '/wallet/deposits',
    { operationId: 'listDeposits', summary: 'List deposits, newest first', tag, scope: 'wallet:read', isOfPayer: true, data: Deposit },
    ({ principal }, page) => listDeposits(deps.db, principal.accountId, page),
  )

  api.get(
    '/wallet/deposits/:id',
    {
      operationId: 'getDeposit',
      errorCodes: ['not_found'],
      summary: 'Get a deposit',
      tag,
      scope: 'wallet:read',
      isOfPayer: true,
      params: { id: Type.String() },
      data: Deposit,
    },
    ({ principal, params: { id } }) => getDeposit(deps.db, principal.accountId, id),
  )
}
