import type { BindingRow } from './bindings.ts'
import { DEFAULTS } from './compile-filter.ts'
import { ANY_PORT } from './rule-input.ts'
import type { BindingState, Firewall, FirewallRule } from './schema.ts'
import type { CountedRow, RuleRow } from './sql.ts'

export const toFirewall = (row: CountedRow): Firewall => ({
  id: row.id,
  name: row.name,
  labels: row.labels,
  description: row.description,
  ...DEFAULTS,
  coversPrivate: row.covers_private,
  ruleCount: row.rule_count,
  bindingCount: row.binding_count,
  applied: row.applied,
  pendingCount: row.pending_count,
  rulesVersion: row.rules_version,
  undoUntil: row.undo_until?.toISOString() ?? null,
  confirmBy: row.confirm_by?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

export const toRule = (row: RuleRow): FirewallRule => ({
  id: row.id,
  firewallId: row.firewall_id,
  position: row.position,
  direction: row.direction,
  action: row.action,
  protocol: row.protocol,
  port: row.port ?? ANY_PORT,
  sourceIps: row.source_ips,
  destIps: row.dest_ips,
  description: row.description,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

export const toBindingState = (row: BindingRow): BindingState => ({
  firewallId: row.firewall_id,
  vmId: row.vm_id,
  applied: row.applied,
  state: row.applied ? 'APPLIED' : row.error === null ? 'PENDING' : 'FAILED',
  appliedAt: row.applied_at?.toISOString() ?? null,
  error: row.error,
  nextTryAt: row.next_try_at?.toISOString() ?? null,
})
