import type { VmListItem, Wallet } from '@berth/sdk'

export type Renewable = Pick<VmListItem, 'id' | 'name' | 'status' | 'billing'>

export interface Renewal {
  vm: Renewable
  balance: number
}

const cents = (amount: string): number => Math.round(Number(amount) * 100)

/** As the renewals go: not what could not be built, what is out of management, or what an operator has suspended. */
const isRenewed = ({ status, billing }: Renewable): boolean =>
  billing.status !== 'CANCELLED' && status !== 'UNMANAGED' && (status !== 'SUSPENDED' || billing.status === 'SUSPENDED')

/** The next renewal of each VM in the order they come, and what is left in the wallet after it. */
export function forecast(vms: Renewable[], { balance }: Pick<Wallet, 'balance'>): Renewal[] {
  let left = cents(balance)
  return vms
    .filter(isRenewed)
    .toSorted((one, other) => one.billing.nextRenewalAt.localeCompare(other.billing.nextRenewalAt))
    .map((vm) => ({ vm, balance: (left -= cents(vm.billing.priceMonthly)) / 100 }))
}
