import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Firewalls extends Resource {
  list(query?: Query<'listFirewalls'>, options?: CallOptions) {
    return this.api.pages('listFirewalls', { query }, options)
  }

  create(body: Body<'createFirewall'>, options?: CallOptions) {
    return this.api.call('createFirewall', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getFirewall', { path: { id } }, options)
  }

  update(id: string, body: Body<'changeFirewall'>, options?: CallOptions) {
    return this.api.call('changeFirewall', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteFirewall', { path: { id } }, options)
  }

  /** In evaluation order. */
  rules(id: string, options?: CallOptions) {
    return this.api.call('listFirewallRules', { path: { id } }, options)
  }

  rule(id: string, ruleId: string, options?: CallOptions) {
    return this.api.call('getFirewallRule', { path: { id, ruleId } }, options)
  }

  addRule(id: string, body: Body<'addFirewallRule'>, options?: CallOptions) {
    return this.api.call('addFirewallRule', { path: { id }, body }, options)
  }

  /** Replaces all rules atomically: no packet is matched against a mix of old and new rules. With `basedOn`, the `rulesVersion` of the
   *  firewall, only while they are those; with `confirmWithinSeconds` they are undone by themselves unless `confirm` follows. */
  replaceRules(
    id: string,
    rules: Body<'replaceFirewallRules'>['rules'],
    { basedOn, confirmWithinSeconds, ...options }: CallOptions & Omit<Body<'replaceFirewallRules'>, 'rules'> = {},
  ) {
    const more = { ...(basedOn !== undefined && { basedOn }), ...(confirmWithinSeconds !== undefined && { confirmWithinSeconds }) }
    return this.api.call('replaceFirewallRules', { path: { id }, body: { rules, ...more } }, options)
  }

  /** Restores the rules before their latest change, within ten minutes of it. With `basedOn`, the `rulesVersion` of the firewall, only while
   *  that change is the latest; with `restoresVersion` of `undoPreview`, only those rules. */
  undo(id: string, { basedOn, restoresVersion, ...options }: CallOptions & Body<'undoFirewallRules'> = {}) {
    const body = { ...(basedOn !== undefined && { basedOn }), ...(restoresVersion !== undefined && { restoresVersion }) }
    return this.api.call('undoFirewallRules', { path: { id }, body }, options)
  }

  /** The rules that `undo` would restore. */
  undoPreview(id: string, options?: CallOptions) {
    return this.api.call('getFirewallUndo', { path: { id } }, options)
  }

  /** Keeps rules that would be undone by themselves; with `basedOn`, the `rulesVersion` of the firewall, only those. */
  confirm(id: string, { basedOn, ...options }: CallOptions & Body<'confirmFirewallRules'> = {}) {
    return this.api.call('confirmFirewallRules', { path: { id }, body: basedOn === undefined ? {} : { basedOn } }, options)
  }

  updateRule(id: string, ruleId: string, body: Body<'changeFirewallRule'>, options?: CallOptions) {
    return this.api.call('changeFirewallRule', { path: { id, ruleId }, body }, options)
  }

  deleteRule(id: string, ruleId: string, options?: CallOptions) {
    return this.api.call('deleteFirewallRule', { path: { id, ruleId } }, options)
  }

  bindings(id: string, options?: CallOptions) {
    return this.api.call('listFirewallBindings', { path: { id } }, options)
  }

  binding(id: string, vmId: string, options?: CallOptions) {
    return this.api.call('getFirewallBinding', { path: { id, vmId } }, options)
  }

  bind(id: string, vmId: string, options?: CallOptions) {
    return this.api.call('bindFirewall', { path: { id }, body: { vmId } }, options)
  }

  unbind(id: string, vmId: string, options?: CallOptions) {
    return this.api.call('unbindFirewall', { path: { id, vmId } }, options)
  }

  /** Whether a packet would be accepted, and the rule that matches. */
  check(id: string, body: Body<'checkPacket'>, options?: CallOptions) {
    return this.api.call('checkPacket', { path: { id }, body }, options)
  }
}
