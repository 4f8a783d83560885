// Columns and fields of what several commands show.
import type { Action, Backup, Firewall, FirewallRule, Network, Quote, Snapshot, Transaction, Vm, VmListItem, Webhook } from '@berth/sdk'
import { record, type Answer, type Columns } from '../answer.ts'
import { bytes, mebibytes, time } from '../format.ts'

export const VM_COLUMNS: Columns<VmListItem> = {
  NAME: (vm) => vm.name,
  STATUS: (vm) => vm.status,
  ADDRESS: (vm) => vm.ipAddress,
  PLAN: (vm) => vm.plan.slug,
  OS: (vm) => vm.osTemplate.slug,
  REGION: (vm) => vm.region.slug,
  RENEWS: (vm) => time(vm.billing.nextRenewalAt),
}

export const VM_FIELDS: Columns<Vm> = {
  Name: (vm) => vm.name,
  Id: (vm) => vm.id,
  Status: (vm) => vm.status,
  Reason: (vm) => vm.statusReason ?? undefined,
  'Under way': (vm) => (vm.currentAction ? `${vm.currentAction.action} ${vm.currentAction.progress} %` : undefined),
  Address: (vm) => vm.ipAddress,
  Hostname: (vm) => vm.hostname,
  Size: (vm) => `${vm.vcpu} vCPU, ${mebibytes(vm.ram)} RAM, ${vm.disk} GiB disk`,
  Plan: (vm) => `${vm.plan.slug}, ${vm.plan.priceMonthly} a month`,
  OS: (vm) => vm.osTemplate.name,
  Region: (vm) => vm.region.slug,
  Traffic: (vm) => `${bytes(vm.bandwidthUsedBytes)} of ${vm.bandwidth === 0 ? 'any' : `${vm.bandwidth} GB`}`,
  Keys: (vm) => vm.sshKeys.map(({ name }) => name),
  Firewalls: (vm) => vm.firewalls.map(({ name }) => name),
  Networks: (vm) => vm.privateNetworks.map(({ name }) => name),
  'Daily backups': (vm) => vm.dailyBackupEnabled,
  Protected: (vm) => vm.isProtected,
  Renews: (vm) => `${time(vm.billing.nextRenewalAt)} for ${vm.billing.priceMonthly}`,
  Created: (vm) => time(vm.createdAt),
}

export const ACTION_COLUMNS: Columns<Action> = {
  ID: (action) => action.id,
  VM: (action) => action.vmId,
  ACTION: (action) => action.action,
  STATUS: (action) => action.status,
  PROGRESS: (action) => `${action.progress} %`,
  STARTED: (action) => time(action.startedAt),
  ERROR: (action) => action.error,
}

export const ACTION_FIELDS: Columns<Action> = {
  Id: (action) => action.id,
  VM: (action) => action.vmId,
  Action: (action) => action.action,
  Status: (action) => action.status,
  Progress: (action) => `${action.progress} %`,
  Steps: (action) => action.steps.map(({ name, status }) => `${name} ${status.toLowerCase()}`),
  Error: (action) => action.error,
  Started: (action) => time(action.startedAt),
  Completed: (action) => time(action.completedAt),
}

export const SNAPSHOT_FIELDS: Columns<Snapshot> = {
  Name: (snapshot) => snapshot.name,
  Id: (snapshot) => snapshot.id,
  Status: (snapshot) => snapshot.status,
  Size: (snapshot) => bytes(snapshot.size),
  Description: (snapshot) => snapshot.description,
  Created: (snapshot) => time(snapshot.createdAt),
}

export const BACKUP_FIELDS: Columns<Backup> = {
  Name: (backup) => backup.name,
  Id: (backup) => backup.id,
  Type: (backup) => backup.type,
  Status: (backup) => backup.status,
  Size: (backup) => bytes(backup.size),
  Expires: (backup) => time(backup.expiresAt),
  Error: (backup) => backup.error,
  Created: (backup) => time(backup.createdAt),
}

export const NETWORK_FIELDS: Columns<Network> = {
  Name: (network) => network.name,
  Id: (network) => network.id,
  Range: (network) => network.cidr,
  Gateway: (network) => network.gateway,
  SNAT: (network) => network.enableSnat,
  DHCP: (network) => network.enableDhcp,
  Region: (network) => network.region.name,
  VMs: (network) => network.attachmentCount,
  Created: (network) => time(network.createdAt),
}

export const FIREWALL_FIELDS: Columns<Firewall> = {
  Name: (firewall) => firewall.name,
  Id: (firewall) => firewall.id,
  Description: (firewall) => firewall.description,
  Inbound: (firewall) => firewall.defaultInbound,
  Outbound: (firewall) => firewall.defaultOutbound,
  Rules: (firewall) => firewall.ruleCount,
  VMs: (firewall) => firewall.bindingCount,
  Applied: (firewall) => firewall.applied,
}

export const RULE_COLUMNS: Columns<FirewallRule> = {
  '#': (rule) => rule.position,
  DIRECTION: (rule) => rule.direction,
  ACTION: (rule) => rule.action,
  PROTOCOL: (rule) => rule.protocol,
  PORT: (rule) => rule.port,
  FROM: (rule) => rule.sourceIps.join(', ') || 'any',
  TO: (rule) => rule.destIps.join(', ') || 'any',
  DESCRIPTION: (rule) => rule.description,
  ID: (rule) => rule.id,
}

export const WEBHOOK_FIELDS: Columns<Webhook> = {
  Id: (webhook) => webhook.id,
  URL: (webhook) => webhook.url,
  Events: (webhook) => webhook.events,
  Active: (webhook) => webhook.isActive,
  'Why not': (webhook) => webhook.disabledReason,
  Failures: (webhook) => webhook.failCount,
  'Last success': (webhook) => time(webhook.lastSuccessAt),
  Description: (webhook) => webhook.description,
}

export const TRANSACTION_COLUMNS: Columns<Transaction> = {
  TIME: (entry) => time(entry.createdAt),
  TYPE: (entry) => entry.type,
  AMOUNT: (entry) => entry.amount,
  BALANCE: (entry) => entry.balanceAfter,
  DESCRIPTION: (entry) => entry.description,
  FOR: (entry) => entry.referenceId,
}

export const priced = (quote: Quote): Answer =>
  record(
    quote,
    {
      'Charged now': ({ charge, currency }) => (charge.startsWith('-') ? undefined : `${charge} ${currency}`),
      'Given back': ({ charge, currency }) => (charge.startsWith('-') ? `${charge.slice(1)} ${currency}` : undefined),
      'Each month': ({ monthly, currency }) => `${monthly} ${currency}`,
      'Balance after': ({ balanceAfter, currency }) => `${balanceAfter} ${currency}`,
    },
    ({ charge }: { charge?: string }) => charge ?? '',
  )
