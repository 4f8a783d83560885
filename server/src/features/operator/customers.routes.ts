import { externalUrl } from '../../http/server/origin.ts'
import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { AuditEntry, AuditFilter } from '../audit-log/schema.ts'
import { Transaction } from '../wallet/schema.ts'
import { OPERATOR, startVisit } from '../sessions/service.ts'
import { adoptInPowerState, probeUnmanagedVm, startSuspension, startUnsuspension, unmanageWhenIdle } from '../vms/service.ts'
import * as customers from './customers.ts'
import * as shapes from './customers.schema.ts'

const common = { tag: 'Operator', scope: OPERATOR }
const params = { id: Type.String() }
const ordered = { ...common, params, status: 202, data: shapes.Done }
const done = { ...common, params, data: shapes.Done }

export const customerRoutes: Routes = (api, deps) => {
  const { db, clock, config } = deps

  api.page(
    '/operator/accounts',
    { operationId: 'operatorListAccounts', summary: 'Find accounts', ...common, query: shapes.AccountQuery, data: shapes.OperatorAccount },
    ({ query }, page) => customers.showAccounts(db, config.currency, query.q ?? '', page),
  )

  api.post(
    '/operator/accounts',
    {
      operationId: 'operatorCreateAccount',
      summary: 'Make an account',
      ...common,
      body: shapes.CreateAccount,
      status: 201,
      data: shapes.OperatorAccount,
      errorCodes: ['already_exists'],
    },
    (tx, { body }) => customers.makeAccount(tx, deps, body),
  )

  api.get(
    '/operator/accounts/:id',
    { operationId: 'operatorGetAccount', summary: 'Get an account', ...common, params, data: shapes.AccountDetails },
    ({ params: { id } }) => customers.showAccount(db, config.currency, id),
  )

  const money = { ...common, requiresReauth: true as const, params, body: shapes.MoneyOrder, status: 201, data: shapes.MoneyMoved }
  api.post(
    '/operator/accounts/:id/credit',
    { operationId: 'operatorCreditAccount', summary: 'Put money into a wallet', ...money },
    (tx, { params: { id }, body }) => customers.adjustBalance(tx, deps, 'credit', id, body),
  )

  api.post(
    '/operator/accounts/:id/adjust',
    {
      operationId: 'operatorAdjustAccount',
      summary: 'Set a wallet right, in either direction',
      ...money,
      errorCodes: ['insufficient_funds'],
    },
    (tx, { params: { id }, body }) => customers.adjustBalance(tx, deps, 'adjust', id, body),
  )

  api.put(
    '/operator/accounts/:id/limits/:name',
    {
      operationId: 'operatorChangeLimit',
      summary: 'Change how many of a thing an account may hold',
      ...common,
      params: { id: Type.String(), name: Type.String() },
      body: shapes.ChangeLimit,
      data: Type.Array(shapes.Limit),
    },
    (tx, { params: { id, name }, body }) => customers.changeLimit(tx, clock.now(), id, name, body.limit),
  )

  api.post(
    '/operator/accounts/:id/set-up-link',
    {
      operationId: 'operatorMakeSetUpLink',
      summary: 'Get a link with which the customer sets a password',
      ...common,
      requiresReauth: true,
      params,
      status: 201,
      data: shapes.SetUpLink,
      errorCodes: ['already_exists'],
    },
    (tx, { params: { id }, request }) => customers.createInviteLink(tx, clock.now(), id, externalUrl(request, config.publicUrl)),
  )

  api.page(
    '/operator/accounts/:id/transactions',
    {
      operationId: 'operatorListTransactions',
      summary: 'List the wallet transactions of an account, of a project those of its payer, newest first',
      ...common,
      params,
      data: Transaction,
    },
    ({ params: { id } }, page) => customers.showTransactions(db, id, page),
  )

  api.page(
    '/operator/accounts/:id/audit-log',
    {
      operationId: 'operatorListAuditLog',
      summary: 'List the audit log of an account, newest first',
      ...common,
      params,
      query: AuditFilter,
      data: AuditEntry,
    },
    ({ params: { id }, query }, page) => customers.showAuditLog(db, id, query, page),
  )

  api.get(
    '/operator/accounts/:id/visits',
    {
      operationId: 'operatorListVisits',
      summary: 'List the last visits of operators to an account',
      ...common,
      params,
      data: Type.Array(shapes.Visit),
    },
    ({ params: { id } }) => customers.showVisits(db, clock.now(), id),
  )

  api.post(
    '/operator/accounts/:id/visit',
    {
      operationId: 'operatorVisitAccount',
      summary: 'Sign in to the account of a customer, for an hour, to read',
      ...common,
      requiresReauth: true,
      ignoresIdempotencyKey: true,
      params,
      body: shapes.VisitAccount,
      status: 201,
      data: shapes.VisitStarted,
      errorCodes: ['invalid_state'],
    },
    async (tx, { params: { id }, body, principal }) => {
      const { account_id, ends_at } = await startVisit(tx, deps, principal, id, body.reason)
      return { accountId: account_id, endsAt: ends_at.toISOString() }
    },
  )

  api.post(
    '/operator/accounts/:id/suspend',
    {
      operationId: 'operatorSuspendAccount',
      summary: 'Suspend all VMs of an account, and let it make no new ones',
      ...common,
      params,
      body: shapes.SuspendAccount,
      data: shapes.AccountSuspended,
    },
    (tx, { params: { id }, body }) => customers.suspendAccount(tx, deps, id, body.reason),
  )

  api.post(
    '/operator/accounts/:id/unsuspend',
    {
      operationId: 'operatorUnsuspendAccount',
      summary: 'Lift the suspension of an account',
      ...common,
      params,
      data: shapes.AccountSuspended,
    },
    (tx, { params: { id } }) => customers.unsuspendAccount(tx, deps, id),
  )

  api.page(
    '/operator/vms',
    { operationId: 'operatorListVms', summary: 'List VMs of all accounts', ...common, query: shapes.VmQuery, data: shapes.OperatorVm },
    ({ query }, page) => customers.showVms(db, query, page),
  )

  api.post(
    '/operator/vms/:id/suspend',
    {
      operationId: 'operatorSuspendVm',
      summary: 'Stop a VM and keep it from being started; a busy one when its action has ended',
      ...ordered,
      errorCodes: ['invalid_state'],
    },
    async (tx, { params: { id } }) => {
      const { actionId, waitsFor } = await startSuspension(tx, deps, id)
      return {
        message: actionId ? 'The VM is being suspended' : `The VM is suspended as soon as its action ${waitsFor} has ended`,
        actionId,
      }
    },
  )

  api.post(
    '/operator/vms/:id/unsuspend',
    { operationId: 'operatorUnsuspendVm', summary: 'Lift a suspension', ...ordered, errorCodes: ['busy', 'invalid_state'] },
    async (tx, { params: { id } }) => {
      const { actionId } = await startUnsuspension(tx, deps, id)
      return { message: actionId ? 'The VM is being brought back' : 'The VM is not suspended', actionId }
    },
  )

  api.post(
    '/operator/vms/:id/unmanage',
    {
      operationId: 'operatorUnmanageVm',
      summary: 'Leave a VM running, untouched and unbilled; a busy one when its action has ended',
      ...done,
      errorCodes: ['invalid_state'],
    },
    async (tx, { params: { id } }) => {
      const waitsFor = await unmanageWhenIdle(tx, deps, id)
      const message = waitsFor ? `The VM is unmanaged as soon as its action ${waitsFor} has ended` : 'The VM is no longer managed'
      return { message, actionId: null }
    },
  )

  api.post(
    '/operator/vms/:id/adopt',
    {
      operationId: 'operatorAdoptVm',
      summary: 'Take an unmanaged VM back, in the power state it is found in',
      ...done,
      errorCodes: ['invalid_state'],
      prepare: ({ params: { id } }) => probeUnmanagedVm(deps, id),
    },
    async (tx, { params: { id } }, isOn) => {
      await adoptInPowerState(tx, deps, id, isOn)
      return { message: 'The VM is managed again', actionId: null }
    },
  )
}
