import type { IconName } from '../ui/Icon.tsx'
import { shellMessages as w } from '../messages/shell.ts'

export interface NavItem {
  to: string
  label: string
  icon: IconName
}

export interface NavGroup {
  label?: string
  items: NavItem[]
}

const item = (to: string, label: string, icon: IconName): NavItem => ({ to, label, icon })

export const CUSTOMER: NavGroup[] = [
  { items: [item('/', w.items.home, 'home')] },
  {
    label: w.groups.compute,
    items: [
      item('/vms', w.items.vms, 'server'),
      item('/volumes', w.items.volumes, 'disk'),
      item('/images', w.items.images, 'box'),
      item('/ssh-keys', w.items.sshKeys, 'key'),
      item('/placement-groups', w.items.placementGroups, 'layout'),
    ],
  },
  {
    label: w.groups.network,
    items: [
      item('/networks', w.items.networks, 'network'),
      item('/addresses', w.items.addresses, 'pin'),
      item('/firewalls', w.items.firewalls, 'shield'),
      item('/bandwidth', w.items.bandwidth, 'gauge'),
    ],
  },
  {
    label: w.groups.account,
    items: [
      item('/wallet', w.items.wallet, 'wallet'),
      item('/alerts', w.items.alerts, 'warning'),
      item('/webhooks', w.items.webhooks, 'webhook'),
      item('/events', w.items.events, 'pulse'),
      item('/tickets', w.items.tickets, 'buoy'),
      item('/audit-log', w.items.audit, 'list'),
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
