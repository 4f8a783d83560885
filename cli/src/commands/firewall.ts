import type { Firewall, FirewallBindingState } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { labelText, time } from '../format.ts'
import { LABEL, labelsOf, omitUndefined, parseOnOff, parsePacket, requireChanges, SELECTOR, selectorOf } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'
import { BASED_ON, rule, undo } from './firewall-rule.ts'

const FIREWALL_FIELDS: Columns<Firewall> = {
  Name: (firewall) => firewall.name,
  Id: (firewall) => firewall.id,
  Description: (firewall) => firewall.description,
  Inbound: (firewall) => firewall.defaultInbound,
  Outbound: (firewall) => firewall.defaultOutbound,
  'Covers private': (firewall) => firewall.coversPrivate,
  Rules: (firewall) => firewall.ruleCount,
  VMs: (firewall) => firewall.bindingCount,
  Applied: (firewall) => firewall.applied,
  'Older rules on': ({ pendingCount }) => (pendingCount === 0 ? undefined : pendingCount === 1 ? '1 VM' : `${pendingCount} VMs`),
  'Rules version': (firewall) => firewall.rulesVersion,
  'Undo until': (firewall) => (firewall.undoUntil === null ? undefined : time(firewall.undoUntil)),
  'Confirm by': (firewall) => (firewall.confirmBy === null ? undefined : time(firewall.confirmBy)),
  Labels: ({ labels }) => labelText(labels) || undefined,
}

const list = defineCommand<{ selector?: string }>({
  name: 'list',
  description: 'list firewalls',
  options: [SELECTOR],
  example: 'firewall list',
  lists: true,
  run: async (ctx, options) =>
    table(
      await ctx.list(ctx.berth.firewalls.list(selectorOf(options))),
      {
        NAME: (each: Firewall) => each.name,
        INBOUND: (each) => each.defaultInbound,
        OUTBOUND: (each) => each.defaultOutbound,
        PRIVATE: (each) => each.coversPrivate,
        RULES: (each) => each.ruleCount,
        VMS: (each) => each.bindingCount,
        APPLIED: (each) => each.applied,
        DESCRIPTION: (each) => each.description,
      },
      'No firewalls yet. Create one: berth firewall create --help',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a firewall',
  args: '<firewall>',
  example: 'firewall get web',
  run: async (ctx, _, firewall: string) =>
    details(await ctx.berth.firewalls.get(await ctx.resolveId('firewall', firewall)), FIREWALL_FIELDS),
})

const create = defineCommand<{ description?: string; coversPrivate?: true; label?: string[] }>({
  name: 'create',
  description: 'create a firewall; without rules it drops all inbound traffic',
  args: '<name>',
  options: [['--description <text>', 'description'], ['--covers-private', 'also filter the private interfaces of its VMs'], LABEL],
  example: 'firewall create web',
  run: async ({ berth }, { description, coversPrivate, ...options }, name: string) =>
    details(
      await berth.firewalls.create({ name, ...omitUndefined({ description, coversPrivate }), ...labelsOf(options) }),
      FIREWALL_FIELDS,
    ),
})

const update = defineCommand<{ name?: string; description?: string; coversPrivate?: string }>({
  name: 'update',
  description: 'change the name or description of a firewall, or what it covers',
  args: '<firewall>',
  options: [
    ['--name <name>', 'new name'],
    ['--description <text>', 'description'],
    ['--covers-private <on|off>', 'also filter the private interfaces of its VMs'],
  ],
  example: 'firewall update web --name frontend',
  async run(ctx, { name, description, coversPrivate }, firewall: string) {
    const fields = { name, description, coversPrivate: parseOnOff('--covers-private', coversPrivate) }
    const body = requireChanges(omitUndefined(fields), '--name, --description, --covers-private')
    return details(await ctx.berth.firewalls.update(await ctx.resolveId('firewall', firewall), body), FIREWALL_FIELDS)
  },
})

const remove = defineCommand({
  name: 'delete',
  description: 'delete a firewall that is not bound to any VM',
  args: '<firewall>',
  example: 'firewall delete web',
  confirms: true,
  async run(ctx, _, firewall: string) {
    const id = await ctx.resolveId('firewall', firewall)
    await ctx.confirm(`Firewall ${firewall} and its rules will be permanently deleted.`, firewall)
    return message(await ctx.berth.firewalls.delete(id), firewall, `Firewall ${firewall} deleted`)
  },
})

const confirm = defineCommand<{ basedOn?: string }>({
  name: 'confirm',
  description: 'keep rules that would be undone by themselves',
  args: '<firewall>',
  options: [BASED_ON],
  example: 'firewall confirm web',
  async run(ctx, { basedOn }, firewall: string) {
    const kept = await ctx.berth.firewalls.confirm(await ctx.resolveId('firewall', firewall), omitUndefined({ basedOn }))
    const vms = kept.pendingCount === 1 ? '1 VM' : `${kept.pendingCount} VMs`
    const pending = kept.pendingCount > 0 ? `; not applied for ${vms} yet, so whether they can be reached is not known` : ''
    return message(kept, firewall, `Rules of ${firewall} confirmed${pending}`)
  },
})

const bind = defineCommand({
  name: 'bind',
  description: 'bind a firewall to a VM',
  args: '<firewall> <vm>',
  example: 'firewall bind web web-1',
  async run(ctx, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([ctx.resolveId('firewall', firewall), ctx.resolveId('vm', vm)])
    return message(await ctx.berth.firewalls.bind(id, vmId), firewall, `Firewall ${firewall} bound to ${vm}`)
  },
})

const unbind = defineCommand({
  name: 'unbind',
  description: 'unbind a firewall from a VM',
  args: '<firewall> <vm>',
  example: 'firewall unbind web web-1',
  async run(ctx, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([ctx.resolveId('firewall', firewall), ctx.resolveId('vm', vm)])
    return message(await ctx.berth.firewalls.unbind(id, vmId), firewall, `Firewall ${firewall} unbound from ${vm}`)
  },
})

const bindingColumns = (nameOf: (vmId: string) => string): Columns<FirewallBindingState> => ({
  VM: (each) => nameOf(each.vmId),
  APPLIED: (each) => each.applied,
  SINCE: (each) => time(each.appliedAt),
  ERROR: (each) => each.error,
})

const vmOf = ({ vmId }: { vmId?: string }): string => vmId ?? ''

const bindings = defineCommand({
  name: 'bindings',
  description: 'list the VMs of a firewall, and whether its latest rules are applied',
  args: '<firewall>',
  example: 'firewall bindings web',
  async run(ctx, _, firewall: string) {
    const states = await ctx.berth.firewalls.bindings(await ctx.resolveId('firewall', firewall))
    return table(states, bindingColumns(await ctx.vmNames(states)), `No VMs bound. Bind one: berth firewall bind ${firewall} <vm>`, vmOf)
  },
})

const binding = defineCommand({
  name: 'binding',
  description: 'show whether the latest rules of a firewall are applied to a VM',
  args: '<firewall> <vm>',
  example: 'firewall binding web web-1',
  async run(ctx, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([ctx.resolveId('firewall', firewall), ctx.resolveId('vm', vm)])
    const state = await ctx.berth.firewalls.binding(id, vmId)
    return details(state, bindingColumns(await ctx.vmNames([state])), vmOf)
  },
})

const check = defineCommand<{ protocol?: string; port?: string; from?: string; to?: string; network?: string }>({
  name: 'check',
  description: 'test whether a packet is accepted, and which rule decides',
  args: '<firewall> <vm>',
  options: [
    ['--protocol <protocol>', 'tcp (default), udp, icmp or icmpv6'],
    ['--port <number>', 'destination port'],
    ['--from <address>', 'source of an inbound packet'],
    ['--to <address>', 'destination of an outbound packet'],
    ['--network <network>', 'private network of the interface; the public interface without it'],
  ],
  example: 'firewall check web web-1 --port 22 --from 198.51.100.7',
  async run(ctx, { protocol, port, from, to, network }, firewall: string, vm: string) {
    const address = from ?? to
    if (!address || (from && to)) throw usageError('Use either --from or --to, with an address')
    const packet = parsePacket(protocol, port)
    const [id, vmId] = await Promise.all([ctx.resolveId('firewall', firewall), ctx.resolveId('vm', vm)])
    const verdict = await ctx.berth.firewalls.check(id, {
      vmId,
      address,
      direction: from ? 'IN' : 'OUT',
      ...packet,
      ...(network && { networkId: await ctx.resolveId('network', network) }),
    })
    const why = verdict.rule
      ? `rule ${verdict.rule.position} of firewall ${(await ctx.berth.firewalls.get(verdict.firewallId!)).name}`
      : verdict.decidedBy === 'NO_FIREWALL'
        ? `no firewall with --covers-private is bound to ${vm}, so none filters its interface in ${network}`
        : 'no rule matches; the default policy applies'
    return message(verdict, verdict.action, `${verdict.action}: ${why}`)
  },
})

const changes = [create, update, remove, rule, undo, confirm]
const bindingCommands = [bind, unbind, bindings, binding, check]

export const firewall = group('firewall', 'firewalls for your VMs', [list, get, ...changes, ...bindingCommands])
