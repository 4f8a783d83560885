import type { Session } from '../api/session.ts'
import type { IconName } from '../ui/Icon.tsx'
import { shellMessages as w } from '../words/words.ts'

export interface NavItem {
  to: string
  label: string
  icon: IconName
  /** What the user needs to see anything there. */
  scope: string | null
  /** Shown only in an account that pays for itself. */
  isOfPayer: boolean
}

export interface NavGroup {
  label?: string
  items: NavItem[]
}

const item = (to: string, label: string, icon: IconName, scope: string | null = null, isOfPayer = false): NavItem => ({
  to,
  label,
  icon,
  scope,
  isOfPayer,
})

export const CUSTOMER: NavGroup[] = [
  { items: [item('/', w.items.home, 'home')] },
  {
    label: w.groups.compute,
    items: [
      item('/vms', w.items.vms, 'server', 'vms:read'),
      item('/volumes', w.items.volumes, 'disk', 'volumes:read'),
      item('/images', w.items.images, 'box', 'images:read'),
      item('/ssh-keys', w.items.sshKeys, 'key', 'ssh_keys:read'),
      item('/placement-groups', w.items.placementGroups, 'layout', 'placement_groups:read'),
    ],
  },
  {
    label: w.groups.network,
    items: [
      item('/networks', w.items.networks, 'network', 'networks:read'),
      item('/addresses', w.items.addresses, 'pin', 'addresses:read'),
      item('/firewalls', w.items.firewalls, 'shield', 'firewalls:read'),
      item('/bandwidth', w.items.bandwidth, 'gauge', 'bandwidth:read'),
    ],
  },
  {
    label: w.groups.account,
    items: [
      item('/wallet', w.items.wallet, 'wallet', 'wallet:read'),
      item('/alerts', w.items.alerts, 'warning', 'alerts:read'),
      item('/webhooks', w.items.webhooks, 'webhook', 'webhooks:read'),
      item('/events', w.items.events, 'pulse', 'events:read'),
      item('/tickets', w.items.tickets, 'buoy', 'tickets:read'),
      item('/projects', w.items.projects, 'layout', 'projects:read', true),
      item('/members', w.items.members, 'users', 'members:read'),
      item('/audit-log', w.items.audit, 'list', 'account:read'),
      item('/settings', w.items.settings, 'settings'),
    ],
  },
]

export const OPERATOR: NavGroup = {
  label: w.groups.operator,
  items: [
    item('/operator/hosts', w.items.hosts, 'server'),
    item('/operator/capacity', w.items.capacity, 'chart'),
    item('/operator/regions', w.items.regions, 'pin'),
    item('/operator/pools', w.items.pools, 'globe'),
    item('/operator/templates', w.items.templates, 'box'),
    item('/operator/plans', w.items.plans, 'tag'),
    item('/operator/accounts', w.items.accounts, 'users'),
    item('/operator/actions', w.items.actions, 'pulse'),
    item('/operator/orphaned-volumes', w.items.orphanedVolumes, 'lock'),
    item('/operator/tickets', w.items.staffTickets, 'buoy'),
    item('/operator/health', w.items.health, 'heart'),
  ],
}

/** What the user may see in the account. */
export function visibleGroups({ user, account }: Session): NavGroup[] {
  const isShown = ({ scope, isOfPayer }: NavItem): boolean =>
    (scope === null || (account?.scopes.includes(scope) ?? false)) && !(isOfPayer && account?.isProject)
  return (user.isOperator ? [...CUSTOMER, OPERATOR] : CUSTOMER)
    .map((group) => ({ ...group, items: group.items.filter(isShown) }))
    .filter(({ items }) => items.length > 0)
}
