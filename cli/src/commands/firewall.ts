import type { Body, Firewall, FirewallBindingState } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { group, verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { time } from '../format.ts'
import { given, requireSome, whole } from '../options.ts'
import { rule } from './firewall-rule.ts'

const FIREWALL_FIELDS: Columns<Firewall> = {
  Name: (firewall) => firewall.name,
  Id: (firewall) => firewall.id,
  Description: (firewall) => firewall.description,
  Inbound: (firewall) => firewall.defaultInbound,
  Outbound: (firewall) => firewall.defaultOutbound,
  Rules: (firewall) => firewall.ruleCount,
  VMs: (firewall) => firewall.bindingCount,
  Applied: (firewall) => firewall.applied,
}

const list = verb({
  name: 'list',
  about: 'list your firewalls',
  example: 'firewall list',
  run: async ({ berth }) =>
    rows(
      await berth.firewalls.list().all(),
      {
        NAME: (each: Firewall) => each.name,
        INBOUND: (each) => each.defaultInbound,
        OUTBOUND: (each) => each.defaultOutbound,
        RULES: (each) => each.ruleCount,
        VMS: (each) => each.bindingCount,
        APPLIED: (each) => each.applied,
        DESCRIPTION: (each) => each.description,
      },
      'There is no firewall yet: berth firewall create --help',
    ),
})

const get = verb({
  name: 'get',
  about: 'show a firewall',
  args: '<firewall>',
  example: 'firewall get web',
  run: async (call, _, firewall: string) => record(await call.berth.firewalls.get(await call.id('firewall', firewall)), FIREWALL_FIELDS),
})

const create = verb<{ description?: string }>({
  name: 'create',
  about: 'make a firewall; without rules it lets nothing in',
  args: '<name>',
  options: [['--description <text>', 'what it is for']],
  example: 'firewall create web',
  run: async ({ berth }, { description }, name: string) =>
    record(await berth.firewalls.create({ name, ...given({ description }) }), FIREWALL_FIELDS),
})

const update = verb<{ name?: string; description?: string }>({
  name: 'update',
  about: 'change the name or description of a firewall',
  args: '<firewall>',
  options: [
    ['--name <name>', 'its new name'],
    ['--description <text>', 'what it is for'],
  ],
  example: 'firewall update web --name frontend',
  async run(call, { name, description }, firewall: string) {
    const body = requireSome(given({ name, description }), '--name, --description')
    return record(await call.berth.firewalls.update(await call.id('firewall', firewall), body), FIREWALL_FIELDS)
  },
})

const remove = verb({
  name: 'delete',
  about: 'delete a firewall that is bound to no VM',
  args: '<firewall>',
  example: 'firewall delete web',
  asks: true,
  async run(call, _, firewall: string) {
    const id = await call.id('firewall', firewall)
    await call.confirm(`Firewall ${firewall} and its rules will be gone.`, firewall)
    return said(await call.berth.firewalls.delete(id), firewall, `Firewall ${firewall} is gone`)
  },
})

const bind = verb({
  name: 'bind',
  about: 'let a firewall guard a VM',
  args: '<firewall> <vm>',
  example: 'firewall bind web web-1',
  async run(call, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    return said(await call.berth.firewalls.bind(id, vmId), firewall, `Firewall ${firewall} guards ${vm}`)
  },
})

const unbind = verb({
  name: 'unbind',
  about: 'let a firewall guard a VM no longer',
  args: '<firewall> <vm>',
  example: 'firewall unbind web web-1',
  async run(call, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    return said(await call.berth.firewalls.unbind(id, vmId), firewall, `Firewall ${firewall} no longer guards ${vm}`)
  },
})

const BINDING_COLUMNS: Columns<FirewallBindingState> = {
  VM: (each) => each.vmId,
  APPLIED: (each) => each.applied,
  SINCE: (each) => time(each.appliedAt),
  ERROR: (each) => each.error,
}

const vmOf = ({ vmId }: { vmId?: string }): string => vmId ?? ''

const bindings = verb({
  name: 'bindings',
  about: 'which VMs a firewall guards, and whether their hosts have its latest rules',
  args: '<firewall>',
  example: 'firewall bindings web',
  run: async (call, _, firewall: string) =>
    rows(
      await call.berth.firewalls.bindings(await call.id('firewall', firewall)),
      BINDING_COLUMNS,
      `It guards no VM yet: berth firewall bind ${firewall} <vm>`,
      vmOf,
    ),
})

const binding = verb({
  name: 'binding',
  about: "whether a firewall guards a VM, and whether the VM's host has its latest rules",
  args: '<firewall> <vm>',
  example: 'firewall binding web web-1',
  async run(call, _, firewall: string, vm: string) {
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    return record(await call.berth.firewalls.binding(id, vmId), BINDING_COLUMNS, vmOf)
  },
})

type Packet = Body<'checkPacket'>

const check = verb<{ protocol?: string; port?: string; from?: string; to?: string }>({
  name: 'check',
  about: 'would this packet pass, and which rule decides?',
  args: '<firewall> <vm>',
  options: [
    ['--protocol <protocol>', 'tcp (unless given), udp or icmp'],
    ['--port <number>', 'destination port'],
    ['--from <address>', 'a packet to the VM from there'],
    ['--to <address>', 'a packet from the VM to there'],
  ],
  example: 'firewall check web web-1 --port 22 --from 198.51.100.7',
  async run(call, { protocol = 'tcp', port, from, to }, firewall: string, vm: string) {
    const address = from ?? to
    if (!address || (from && to)) throw wrongUsage('Say either --from or --to, with an address')
    const [id, vmId] = await Promise.all([call.id('firewall', firewall), call.id('vm', vm)])
    const verdict = await call.berth.firewalls.check(id, {
      vmId,
      address,
      direction: from ? 'IN' : 'OUT',
      protocol: protocol.toUpperCase() as Packet['protocol'],
      ...given({ port: port === undefined ? undefined : whole('--port', port) }),
    })
    const why = verdict.rule ? `rule ${verdict.rule.position} of firewall ${verdict.firewallId}` : 'no rule matches, so the default decides'
    return said(verdict, verdict.action, `${verdict.action}: ${why}`)
  },
})

const changes = [create, update, remove, rule]
const guarding = [bind, unbind, bindings, binding, check]

export const firewall = group('firewall', 'what may reach your VMs', [list, get, ...changes, ...guarding])
