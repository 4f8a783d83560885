import type { VmListItem, Wallet } from '@berth/sdk'

export type Renewable = Pick<VmListItem, 'id' | 'name' | 'status' | 'billing'>

export interface Renewal {
  vm: Renewable
  balance: number
}

const cents = (amount: string): number => Math.round(Number(amount) * 100)

/** Mirrors the server's renewal rules: not for failed, unmanaged or operator-suspended VMs. */
const isRenewed = ({ status, billing }: Renewable): boolean =>
  billing.status !== 'CANCELLED' && status !== 'UNMANAGED' && (status !== 'SUSPENDED' || billing.status === 'SUSPENDED')

/** The next renewal of each VM by date, with the projected balance after it. */
export function forecast(vms: Renewable[], { balance }: Pick<Wallet, 'balance'>): Renewal[] {
  let left = cents(balance)
  return vms
    .filter(isRenewed)
    .toSorted((one, other) => one.billing.nextRenewalAt.localeCompare(other.billing.nextRenewalAt))
    .map((vm) => ({ vm, balance: (left -= cents(vm.billing.priceMonthly)) / 100 }))
}
