import type { VmListItem } from './generated/openapi.ts'

/** Whether the VM is charged at its `nextRenewalAt`: not while it is unmanaged or suspended by an operator, nor after it failed to provision. */
export const isRenewed = ({ status, billing }: Pick<VmListItem, 'status' | 'billing'>): boolean =>
  billing.status !== 'CANCELLED' && status !== 'UNMANAGED' && (status !== 'SUSPENDED' || billing.status === 'SUSPENDED')
