import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { addRule, changeRule, confirmRules, deleteRule, getRule, getUndo, listRules, replaceRules, undoRules } from './rules.ts'
import {
  AddRule,
  BindingState,
  ChangeFirewall,
  ChangeRule,
  ConfirmRules,
  CreateFirewall,
  Deleted,
  Firewall,
  FirewallQuery,
  FirewallRule,
  FirewallUndo,
  ReplaceRules,
  UndoRules,
} from './schema.ts'
import {
  changeFirewall,
  createFirewall,
  deleteFirewall,
  getBindingState,
  getFirewall,
  listBindingStates,
  listFirewalls,
} from './service.ts'

const tag = 'Firewalls'
const params = { id: Type.String() }
const ruleParams = { id: Type.String(), ruleId: Type.String() }
const read = { tag, scope: 'firewalls:read' }
const update = { tag, scope: 'firewalls:update' }

export const firewallRoutes: Routes = (api, deps) => {
  const { db, clock } = deps

  api.page(
    '/firewalls',
    { ...read, operationId: 'listFirewalls', summary: 'List firewalls, newest first', query: FirewallQuery, data: Firewall },
    ({ principal, query }, page) => listFirewalls(db, principal.accountId, query, page),
  )

  api.post(
    '/firewalls',
    {
      operationId: 'createFirewall',
      errorCodes: ['quota_exceeded'],
      summary: 'Create a firewall. Bound to a VM, it drops what comes in unless a rule accepts it, and lets out everything',
      tag,
      scope: 'firewalls:create',
      body: CreateFirewall,
      status: 201,
      data: Firewall,
    },
    (tx, { principal, body }) => createFirewall(tx, clock.now(), principal.accountId, body),
  )

  api.get(
    '/firewalls/:id',
    { ...read, operationId: 'getFirewall', summary: 'Get a firewall', params, data: Firewall },
    ({ principal, params: { id } }) => getFirewall(db, principal.accountId, id),
  )

  api.patch(
    '/firewalls/:id',
    {
      ...update,
      operationId: 'changeFirewall',
      summary: 'Rename, describe or label a firewall, or change whether it covers private interfaces',
      params,
      body: ChangeFirewall,
      data: Firewall,
      before: (tx, { principal, params: { id } }) => getFirewall(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body }) => changeFirewall(tx, clock.now(), principal.accountId, id, body),
  )

  api.delete(
    '/firewalls/:id',
    {
      operationId: 'deleteFirewall',
      errorCodes: ['in_use'],
      summary: 'Delete a firewall that is bound to no VM',
      tag,
      scope: 'firewalls:delete',
      params,
      data: Deleted,
      before: (tx, { principal, params: { id } }) => getFirewall(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id } }) => deleteFirewall(tx, principal.accountId, id),
  )

  api.get(
    '/firewalls/:id/rules',
    {
      ...read,
      operationId: 'listFirewallRules',
      summary: "List a firewall's rules in their order",
      params,
      data: Type.Array(FirewallRule),
    },
    ({ principal, params: { id } }) => listRules(db, principal.accountId, id),
  )

  api.post(
    '/firewalls/:id/rules',
    {
      ...update,
      operationId: 'addFirewallRule',
      errorCodes: ['invalid_state', 'incompatible', 'quota_exceeded'],
      summary: 'Add a rule at the end, or insert it at a position',
      params,
      body: AddRule,
      status: 201,
      data: FirewallRule,
    },
    (tx, { principal, params: { id }, body }) => addRule(tx, deps, principal.accountId, id, body),
  )

  api.put(
    '/firewalls/:id/rules',
    {
      ...update,
      operationId: 'replaceFirewallRules',
      errorCodes: ['invalid_state', 'version_conflict', 'quota_exceeded'],
      summary: 'Replace all rules at once, if they are still those that the request is based on',
      params,
      body: ReplaceRules,
      data: Type.Array(FirewallRule),
      reread: ({ principal, params: { id } }) => listRules(db, principal.accountId, id),
      before: async (tx, { principal, params: { id } }) => ({ rules: await listRules(tx, principal.accountId, id) }),
    },
    (tx, { principal, params: { id }, body }) => replaceRules(tx, deps, principal.accountId, id, body),
  )

  api.get(
    '/firewalls/:id/undo',
    {
      ...read,
      operationId: 'getFirewallUndo',
      summary: 'Get the rules that an undo would restore',
      params,
      data: FirewallUndo,
    },
    ({ principal, params: { id } }) => getUndo(db, clock.now(), principal.accountId, id),
  )

  api.post(
    '/firewalls/:id/undo',
    {
      ...update,
      operationId: 'undoFirewallRules',
      errorCodes: ['invalid_state', 'version_conflict', 'quota_exceeded'],
      summary: 'Restore the rules before their latest change, within ten minutes of it',
      params,
      body: UndoRules,
      optionalBody: true,
      data: Type.Array(FirewallRule),
      reread: ({ principal, params: { id } }) => listRules(db, principal.accountId, id),
      before: async (tx, { principal, params: { id } }) => ({ rules: await listRules(tx, principal.accountId, id) }),
    },
    (tx, { principal, params: { id }, body }) => undoRules(tx, deps, principal.accountId, id, body),
  )

  api.post(
    '/firewalls/:id/confirm',
    {
      ...update,
      operationId: 'confirmFirewallRules',
      errorCodes: ['invalid_state', 'version_conflict'],
      summary: 'Keep rules that would be undone by themselves',
      params,
      body: ConfirmRules,
      optionalBody: true,
      data: Firewall,
    },
    (tx, { principal, params: { id }, body }) => confirmRules(tx, principal.accountId, id, body),
  )

  api.get(
    '/firewalls/:id/rules/:ruleId',
    { ...read, operationId: 'getFirewallRule', summary: 'Get a rule', params: ruleParams, data: FirewallRule },
    ({ principal, params: { id, ruleId } }) => getRule(db, principal.accountId, id, ruleId),
  )

  api.patch(
    '/firewalls/:id/rules/:ruleId',
    {
      ...update,
      operationId: 'changeFirewallRule',
      errorCodes: ['invalid_state', 'incompatible'],
      summary: 'Change or move a rule',
      params: ruleParams,
      body: ChangeRule,
      data: FirewallRule,
      before: (tx, { principal, params: { id, ruleId } }) => getRule(tx, principal.accountId, id, ruleId),
    },
    (tx, { principal, params: { id, ruleId }, body }) => changeRule(tx, deps, principal.accountId, id, ruleId, body),
  )

  api.delete(
    '/firewalls/:id/rules/:ruleId',
    {
      ...update,
      operationId: 'deleteFirewallRule',
      errorCodes: ['invalid_state'],
      summary: 'Delete a rule',
      params: ruleParams,
      data: Deleted,
    },
    (tx, { principal, params: { id, ruleId } }) => deleteRule(tx, deps, principal.accountId, id, ruleId),
  )

  api.get(
    '/firewalls/:id/bindings',
    {
      ...read,
      operationId: 'listFirewallBindings',
      summary: 'List the VMs a firewall is bound to, and whether their hosts have its latest rules',
      params,
      data: Type.Array(BindingState),
    },
    ({ principal, params: { id } }) => listBindingStates(db, principal.accountId, id),
  )

  api.get(
    '/firewalls/:id/bindings/:vmId',
    {
      ...read,
      operationId: 'getFirewallBinding',
      summary: "Get a firewall's binding to a VM, and whether the VM's host has its latest rules",
      params: { ...params, vmId: Type.String() },
      data: BindingState,
    },
    ({ principal, params: { id, vmId } }) => getBindingState(db, principal.accountId, id, vmId),
  )
}
