import {
  Id,
  IPV6,
  nameQuery,
  nameText,
  nullable,
  object,
  oneOf,
  plainText,
  QUAD,
  sortQuery,
  Timestamp,
  Type,
  type Static,
} from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'

const Direction = oneOf(['IN', 'OUT'])
const Action = oneOf(['ACCEPT', 'DROP', 'REJECT'])
const Protocol = oneOf(['TCP', 'UDP', 'ICMP', 'ICMPV6', 'ANY'])

/** Up to 65535, so that a port beyond is named together with the other fields that are wrong. */
const PORT = '([1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])'
const PORTS = `${PORT}(-${PORT})?`
const Port = Type.String({
  pattern: `^(any|${PORTS}(,${PORTS})*)$`,
  maxLength: 200,
  rule: 'must be ports from 1 to 65535 such as "22", "80,443" or "8000-9000", or "any"',
  description: 'Destination ports of TCP or UDP: "22", "80,443" or "8000-9000"; null, absent or "any" = all',
})
const Address = Type.String({
  pattern: `^(${QUAD}(/(\\d|[12]\\d|3[0-2]))?|${IPV6}(/(\\d|[1-9]\\d|1[01]\\d|12[0-8]))?)$`,
  maxLength: 49,
  rule: 'must be an address or range such as 10.0.0.7, 10.0.0.0/8 or 2001:db8::/32',
})
const Addresses = Type.Array(Address, { maxItems: 50, description: 'Addresses and ranges of IPv4 and IPv6; empty = any' })
const CoversPrivate = Type.Boolean({ description: 'Whether its rules also filter the private interfaces of the VMs that it is bound to' })

export const Firewall = object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: ShownLabels,
    description: Type.String(),
    defaultInbound: Type.String({ description: 'What happens to packets to a VM that no rule matches' }),
    defaultOutbound: Type.String({ description: 'What happens to packets from a VM that no rule matches' }),
    coversPrivate: CoversPrivate,
    ruleCount: Type.Integer(),
    bindingCount: Type.Integer({ description: 'How many VMs it is bound to' }),
    applied: Type.Boolean({ description: 'Whether the hosts of all these VMs have its latest rules' }),
    pendingCount: Type.Integer({
      description:
        'For how many of these VMs older rules are in force until their hosts have the latest: a confirmation before says nothing about them',
    }),
    rulesVersion: Type.String({
      description: 'Of its rules in their order: another one when any of them was changed, added, moved or deleted',
    }),
    undoUntil: nullable(
      Type.String({ format: 'date-time', description: 'Until then the latest change of its rules can be undone; null when there is none' }),
    ),
    confirmBy: nullable(
      Type.String({ format: 'date-time', description: 'Its rules are undone by themselves then, unless they are confirmed' }),
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Firewall' },
)
export type Firewall = Static<typeof Firewall>

export const CreateFirewall = object(
  {
    name: nameText(1, 100),
    description: Type.Optional(plainText(0, 500)),
    labels: Type.Optional(Labels),
    coversPrivate: Type.Optional({ ...CoversPrivate, default: false }),
  },
  { title: 'CreateFirewall' },
)
export type CreateFirewall = Static<typeof CreateFirewall>

export const ChangeFirewall = object(
  {
    name: Type.Optional(nameText(1, 100)),
    description: Type.Optional(plainText(0, 500)),
    labels: Type.Optional(Labels),
    coversPrivate: Type.Optional(CoversPrivate),
  },
  { title: 'ChangeFirewall' },
)
export type ChangeFirewall = Static<typeof ChangeFirewall>

export const FirewallQuery = { ...nameQuery, ...labelQuery, ...sortQuery(['name', 'ruleCount', 'bindingCount']) }
export type FirewallQuery = Static<ReturnType<typeof Type.Object<typeof FirewallQuery>>>

export const FirewallRule = object(
  {
    id: Type.String(),
    firewallId: Type.String(),
    position: Type.Integer({ description: 'From 1; the first rule that matches decides' }),
    direction: Type.String({ description: 'IN or OUT' }),
    action: Type.String({ description: 'ACCEPT, DROP or REJECT' }),
    protocol: Type.String({ description: 'TCP, UDP, ICMP, ICMPV6 or ANY' }),
    port: Type.String({ description: '"any", or destination ports such as "22", "80,443" or "8000-9000"' }),
    sourceIps: Type.Array(Type.String(), { description: 'Empty = any' }),
    destIps: Type.Array(Type.String(), { description: 'Empty = any' }),
    description: Type.String(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'FirewallRule' },
)
export type FirewallRule = Static<typeof FirewallRule>

const ruleFields = {
  direction: Direction,
  action: Action,
  protocol: Protocol,
  port: Type.Optional(nullable(Port)),
  sourceIps: Type.Optional(Addresses),
  destIps: Type.Optional(Addresses),
  description: Type.Optional(plainText(0, 200)),
}
const Position = Type.Integer({ minimum: 1, maximum: 1_000_000 })

const RuleInput = object(ruleFields, { title: 'RuleInput' })
export type RuleInput = Static<typeof RuleInput>

export const AddRule = object(
  { ...ruleFields, position: Type.Optional({ ...Position, description: 'Where to insert it; at the end when absent' }) },
  { title: 'AddRule' },
)
export type AddRule = Static<typeof AddRule>

const basedOn = (role: string) =>
  Type.String({ maxLength: 64, description: `The \`rulesVersion\` ${role}: refused with \`version_conflict\` when it is another` })

export const ReplaceRules = object(
  {
    rules: Type.Array(RuleInput, { maxItems: 1_000, description: 'In the order they are to be asked' }),
    basedOn: Type.Optional(basedOn('that these replace')),
    confirmWithinSeconds: Type.Optional(
      Type.Integer({
        minimum: 30,
        maximum: 600,
        description: 'Undo them by themselves unless they are confirmed by then: for changes that may lock their author out',
      }),
    ),
  },
  { title: 'ReplaceRules' },
)
export type ReplaceRules = Static<typeof ReplaceRules>

export const UndoRules = object(
  {
    basedOn: Type.Optional(basedOn('that is to be undone')),
    restoresVersion: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Of the rules that are to return, from `GET /firewalls/{id}/undo`: refused with `version_conflict` when others would',
      }),
    ),
  },
  { title: 'UndoRules' },
)
export type UndoRules = Static<typeof UndoRules>

export const ConfirmRules = object({ basedOn: Type.Optional(basedOn('that is to be kept')) }, { title: 'ConfirmRules' })
export type ConfirmRules = Static<typeof ConfirmRules>

export const FirewallUndo = object(
  {
    rules: Type.Array(FirewallRule, { description: 'As they would be, in their order' }),
    rulesVersion: Type.String({ description: 'Of the rules that it undoes, for `basedOn`' }),
    restoresVersion: Type.String({ description: 'Of the rules that return' }),
    undoUntil: Timestamp,
    confirmBy: nullable(Type.String({ format: 'date-time', description: 'It happens by itself then, unless the rules are confirmed' })),
  },
  { title: 'FirewallUndo' },
)
export type FirewallUndo = Static<typeof FirewallUndo>

export const ChangeRule = object(
  {
    direction: Type.Optional(Direction),
    action: Type.Optional(Action),
    protocol: Type.Optional(Protocol),
    port: Type.Optional(nullable(Port)),
    sourceIps: Type.Optional(Addresses),
    destIps: Type.Optional(Addresses),
    description: Type.Optional(plainText(0, 200)),
    position: Type.Optional({ ...Position, description: 'Moves it there; the others keep their order' }),
  },
  { title: 'ChangeRule' },
)
export type ChangeRule = Static<typeof ChangeRule>

export const Deleted = object({ id: Type.String() })

export const BindFirewall = object({ vmId: Id }, { title: 'BindFirewall' })

export const FirewallBinding = object({ firewallId: Type.String(), vmId: Type.String() }, { title: 'FirewallBinding' })
export type FirewallBinding = Static<typeof FirewallBinding>

export const BindingState = object(
  {
    firewallId: Type.String(),
    vmId: Type.String(),
    applied: Type.Boolean({ description: "Whether the VM's host has the latest rules" }),
    state: oneOf(['APPLIED', 'PENDING', 'FAILED']),
    appliedAt: nullable(Timestamp),
    error: nullable(Type.String({ description: 'Why the host does not have them yet; it is tried again' })),
    nextTryAt: nullable(Type.String({ format: 'date-time', description: 'When it is tried again after a failure' })),
  },
  { title: 'FirewallBindingState' },
)
export type BindingState = Static<typeof BindingState>

export const IpAddress = Type.String({
  pattern: `^(${QUAD}|${IPV6})$`,
  maxLength: 45,
  rule: 'must be an address such as 10.0.0.7 or 2001:db8::7',
})
export const packetFields = {
  protocol: oneOf(['TCP', 'UDP', 'ICMP', 'ICMPV6']),
  port: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Destination port of TCP or UDP' }))),
}

export const CheckPacket = object(
  {
    vmId: Id,
    direction: Direction,
    ...packetFields,
    address: { ...IpAddress, description: 'The other end' },
    networkId: Type.Optional(nullable({ ...Id, description: 'Of the private interface that is meant; the public one when absent' })),
    rules: Type.Optional(
      Type.Array(RuleInput, { maxItems: 1_000, description: 'Checks as if the firewall had these rules instead of its own' }),
    ),
  },
  { title: 'CheckPacket' },
)
export type CheckPacket = Static<typeof CheckPacket>

export const Verdict = object(
  {
    action: Type.String({ description: 'ACCEPT, DROP or REJECT' }),
    decidedBy: Type.String({ description: 'RULE, DEFAULT when no rule matches, or NO_FIREWALL when none filters the interface' }),
    firewallId: nullable(Type.String({ description: "The firewall of the rule; it may be another of the VM's firewalls" })),
    rule: nullable(FirewallRule),
    applied: Type.Boolean({ description: "Whether the VM's host has the latest rules" }),
  },
  { title: 'FirewallVerdict' },
)
export type Verdict = Static<typeof Verdict>

const EventFirewall = object({ id: Type.String(), name: Type.String() }, { title: 'EventFirewall' })

const RulesChangedData = object(
  {
    firewall: EventFirewall,
    ruleCount: Type.Integer(),
    rulesVersion: Type.String(),
    confirmBy: nullable(
      Type.String({ format: 'date-time', description: 'The rules are undone by themselves then, unless they are confirmed' }),
    ),
  },
  { title: 'FirewallRulesChangedEventData' },
)

const RulesUndoneData = object(
  {
    firewall: EventFirewall,
    ruleCount: Type.Integer(),
    rulesVersion: Type.String(),
    reason: { ...oneOf(['REQUESTED', 'UNCONFIRMED']), description: 'Somebody undid them, or nobody confirmed them in time' },
  },
  { title: 'FirewallRulesUndoneEventData' },
)

const UndoFailedData = object(
  {
    firewall: EventFirewall,
    rulesVersion: Type.String({ description: 'Of the rules that are still in force' }),
    reason: Type.String({ description: 'The code of the error, as in errors of the API' }),
    nextTryAt: Timestamp,
  },
  { title: 'FirewallUndoFailedEventData' },
)

export const firewallEvents = {
  'firewall.rules_changed': defineEvent(RulesChangedData, 'Rules of a firewall were added, changed, moved, deleted or replaced', {
    by: ['addFirewallRule', 'changeFirewallRule', 'deleteFirewallRule', 'replaceFirewallRules'],
  }),
  'firewall.rules_undone': defineEvent(RulesUndoneData, 'The latest change of the rules of a firewall was undone', {
    by: ['undoFirewallRules'],
  }),
  'firewall.undo_failed': defineEvent(
    UndoFailedData,
    'Rules that nobody confirmed could not be undone, and are still in force: it is tried again until it works',
  ),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof firewallEvents> {}
}
