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

/** What is a customer's is apart from what runs the place: each has its own menu and colour. */
export type Area = 'customer' | 'operator'

export const areaOf = (path: string): Area => (/^\/operator(\/|$)/.test(path) ? 'operator' : 'customer')

const item = (to: string, label: string, icon: IconName, scope: string | null = null, isOfPayer = false): NavItem => ({
  to,
  label,
  icon,
  scope,
  isOfPayer,
})

const CUSTOMER: NavGroup[] = [
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
    label: w.groups.watch,
    items: [
      item('/alerts', w.items.alerts, 'warning', 'alerts:read'),
      item('/events', w.items.events, 'pulse', 'events:read'),
      item('/webhooks', w.items.webhooks, 'webhook', 'webhooks:read'),
      item('/audit-log', w.items.audit, 'list', 'account:read'),
    ],
  },
  {
    label: w.groups.account,
    items: [
      item('/wallet', w.items.wallet, 'wallet', 'wallet:read'),
      item('/projects', w.items.projects, 'folder', 'projects:read', true),
      item('/members', w.items.members, 'users', 'members:read'),
      item('/tickets', w.items.tickets, 'buoy', 'tickets:read'),
      item('/settings', w.items.settings, 'settings'),
    ],
  },
]

const OPERATOR: NavGroup[] = [
  {
    label: w.groups.fleet,
    items: [
      item('/operator/hosts', w.items.hosts, 'server'),
      item('/operator/capacity', w.items.capacity, 'chart'),
      item('/operator/regions', w.items.regions, 'pin'),
      item('/operator/pools', w.items.pools, 'globe'),
    ],
  },
  {
    label: w.groups.customers,
    items: [
      item('/operator/accounts', w.items.accounts, 'users'),
      item('/operator/vms', w.items.allVms, 'server'),
      item('/operator/addresses', w.items.addressHistory, 'search'),
      item('/operator/tickets', w.items.staffTickets, 'buoy'),
      item('/operator/revenue', w.items.revenue, 'wallet'),
      item('/operator/announcements', w.items.announcements, 'pulse'),
    ],
  },
  {
    label: w.groups.catalog,
    items: [
      item('/operator/plans', w.items.plans, 'tag'),
      item('/operator/templates', w.items.templates, 'box'),
      item('/operator/branding', w.items.branding, 'edit'),
    ],
  },
  {
    label: w.groups.operation,
    items: [
      item('/operator/health', w.items.health, 'heart'),
      item('/operator/actions', w.items.actions, 'pulse'),
      item('/operator/orphaned-volumes', w.items.orphanedVolumes, 'lock'),
    ],
  },
]

const AREAS: Record<Area, NavGroup[]> = { customer: CUSTOMER, operator: OPERATOR }

/** What the user may see of an area in the account. */
export function visibleGroups({ user, account }: Session, area: Area): NavGroup[] {
  if (area === 'operator' && !user.isOperator) return []
  const isShown = ({ scope, isOfPayer }: NavItem): boolean =>
    (scope === null || (account?.scopes.includes(scope) ?? false)) && !(isOfPayer && account?.isProject)
  return AREAS[area].map((group) => ({ ...group, items: group.items.filter(isShown) })).filter(({ items }) => items.length > 0)
}

/** Where an area begins. */
export const startOf = (area: Area): string => AREAS[area][0]!.items[0]!.to
