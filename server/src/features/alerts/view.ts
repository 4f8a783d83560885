import type { Alert, AlertEventData } from './schema.ts'
import { ACCOUNT, type AlertRow, type FiringRow } from './sql.ts'

const common = (row: AlertRow): AlertEventData['alert'] => ({
  id: row.id,
  name: row.name,
  metric: row.metric as Alert['metric'],
  comparison: row.comparison as Alert['comparison'],
  threshold: row.threshold,
  forMinutes: row.for_minutes,
})

export const toAlert = (row: AlertRow, firings: FiringRow[]): Alert => ({
  ...common(row),
  vmIds: row.vm_ids,
  labelSelector: row.label_selector,
  labels: row.labels,
  firing: firings.map(({ vm_id, vm_name, value, fired_at }) => ({
    vmId: vm_id === ACCOUNT ? null : vm_id,
    vmName: vm_id === ACCOUNT ? null : vm_name,
    value,
    firedAt: fired_at.toISOString(),
  })),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

export const toEventData = (
  row: AlertRow,
  vm: { id: string; name: string; labels: Record<string, string> },
  firedAt: Date,
  value: number | null,
  reason: string | null = null,
): AlertEventData => ({
  alert: common(row),
  vm: vm.id === ACCOUNT ? null : { id: vm.id, name: vm.name, labels: vm.labels },
  value,
  firedAt: firedAt.toISOString(),
  reason,
})

/** The VM as it was when the alert fired. */
export const vmOf = ({ vm_id, vm_name, vm_labels }: FiringRow) => ({ id: vm_id, name: vm_name, labels: vm_labels })
