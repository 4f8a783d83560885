import type { Wallet } from '@berth/sdk'

export interface Renewable {
  id: string
  name: string
  /** Of what it is the name. */
  kind: 'vm' | 'volume' | 'image' | 'address'
  billing: { nextRenewalAt: string; priceMonthly: string }
}

export interface Renewal {
  item: Renewable
  balance: number
}

const cents = (amount: string): number => Math.round(Number(amount) * 100)

/** The next renewal of each by date, with the projected balance after it. */
export function forecast(items: Renewable[], { balance }: Pick<Wallet, 'balance'>): Renewal[] {
  let left = cents(balance)
  return items
    .toSorted((one, other) => one.billing.nextRenewalAt.localeCompare(other.billing.nextRenewalAt))
    .map((item) => ({ item, balance: (left -= cents(item.billing.priceMonthly)) / 100 }))
}
