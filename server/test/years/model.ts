// A reference model of billing, written from the documentation: one customer at a time, one process, no database. Times are milliseconds,
// money is integer cents.
import { civilOf, DAY, monthLater } from './calendar.ts'

export interface Prices {
  plans: Record<string, number>
  backupPercent: number
  fast: number
  /** For 100 GB of traffic. */
  pack: number
  /** A month on the shelf. */
  shelved: Record<string, number>
}

/** Of a billing period, in bytes. */
export interface Traffic {
  included: bigint
  used: bigint
}

export interface ModelVm {
  id: string
  plan: string
  backups: boolean
  fast: boolean
  /** Add-ons paid for in this period, enabled or not. */
  paid: { backups: boolean; fast: boolean }
  state: 'ACTIVE' | 'PAST_DUE' | 'SUSPENDED'
  since: number
  day: number
  start: number
  end: number
  /** The monthly price at the rate paid for this period. */
  rate: number
  net: number
  /** It is shelved. */
  away: boolean
  /** In the period in which it was shelved: when, what was given back, and the rate before. */
  shelf: { at: number; credit: number; rate: number } | null
}

export interface Entry {
  type: string
  amount: number
  vm: string
  at: number
  balance: number
}

export class ModelAccount {
  readonly vms: ModelVm[] = []
  readonly ledger: Entry[] = []
  readonly prices: Prices
  balance = 0

  constructor(prices: Prices) {
    this.prices = prices
  }

  add(at: number, type: string, amount: number, vm: ModelVm | null = null): void {
    this.balance += amount
    if (this.balance < 0) throw new Error('The model has spent what is not there')
    if (vm) vm.net -= amount
    this.ledger.push({ type, amount, vm: vm?.id ?? '', at, balance: this.balance })
  }

  #backups(plan: string): number {
    return Math.ceil((this.prices.plans[plan]! * this.prices.backupPercent) / 100)
  }

  monthly({ plan, backups, fast }: Pick<ModelVm, 'plan' | 'backups' | 'fast'>): number {
    return this.prices.plans[plan]! + (backups ? this.#backups(plan) : 0) + (fast ? this.prices.fast : 0)
  }

  /** What the next renewal charges. */
  price(vm: ModelVm): number {
    return vm.away ? this.#shelved(vm) : this.monthly(vm)
  }

  #shelved(vm: ModelVm): number {
    return Math.min(this.prices.shelved[vm.plan]!, this.monthly(vm))
  }

  buy(at: number, id: string, plan: string, addOns: { backups: boolean; fast: boolean }): void {
    const { day } = civilOf(at)
    const period = { state: 'ACTIVE' as const, since: at, day, start: at, end: monthLater(at, day), net: 0 }
    const rate = this.monthly({ plan, ...addOns })
    const vm: ModelVm = { id, plan, ...addOns, paid: { ...addOns }, ...period, rate, away: false, shelf: null }
    this.vms.push(vm)
    this.add(at, 'VM_CHARGE', -vm.rate, vm)
  }

  /** The price of `monthly` for the rest of the period, per started second, rounded up. */
  #rest(at: number, vm: ModelVm, monthly: number): number {
    const [left, all] = [Math.ceil((vm.end - at) / 1000), Math.ceil((vm.end - vm.start) / 1000)]
    return Number((BigInt(monthly) * BigInt(left) + BigInt(all) - 1n) / BigInt(all))
  }

  upgrade(at: number, vm: ModelVm, plan: string): void {
    const rate = this.monthly({ ...vm, plan })
    const charge = rate > vm.rate ? this.#rest(at, vm, rate - vm.rate) : 0
    this.add(at, 'VM_UPGRADE', -charge, vm)
    vm.plan = plan
    vm.rate = Math.max(vm.rate, rate)
    vm.paid = { backups: vm.paid.backups && vm.backups, fast: vm.paid.fast && vm.fast }
  }

  set(at: number, vm: ModelVm, addOn: 'backups' | 'fast', on: boolean): void {
    if (on && !vm[addOn] && !vm.paid[addOn]) {
      const price = addOn === 'fast' ? this.prices.fast : this.#backups(vm.plan)
      this.add(at, 'ADDON_CHARGE', -this.#rest(at, vm, price), vm)
      vm.rate += price
      vm.paid[addOn] = true
    }
    vm[addOn] = on
  }

  #days(at: number, vm: ModelVm): [unused: number, all: number] {
    return [Math.max(0, Math.floor((vm.end - at) / DAY)), Math.floor((vm.end - vm.start) / DAY)]
  }

  /** Whole unused days are refunded by the share of unused traffic; what stays paid covers the used traffic at the price of packs. What a shelved VM
   *  has used was settled before. */
  #unused(at: number, vm: ModelVm, { included, used }: Traffic): number {
    const [unused, all] = this.#days(at, vm)
    if (vm.away) return Math.max(0, Math.min(Math.floor((vm.rate * unused) / all), vm.net))
    const days = Number((BigInt(vm.rate * unused) * (included - used)) / (BigInt(all) * included))
    const packs = Math.ceil((this.prices.pack * Number(used)) / 1e11)
    const paid = this.ledger.filter((entry) => entry.vm === vm.id && entry.at >= vm.start).reduce((sum, { amount }) => sum - amount, 0)
    return Math.max(0, Math.min(days, Math.min(vm.rate, paid) - packs, vm.net))
  }

  remove(at: number, vm: ModelVm, traffic: Traffic): void {
    const refund = this.#unused(at, vm, traffic)
    if (refund > 0) this.add(at, 'VM_REFUND', refund, vm)
    this.#drop(vm)
  }

  /** As if it were deleted, less the shelved price until the period ends. What was kept is all that a deletion can give back. */
  shelve(at: number, vm: ModelVm, traffic: Traffic): void {
    const [shelved, unused, [left, all]] = [this.#shelved(vm), this.#unused(at, vm, traffic), this.#days(at, vm)]
    const credit = Math.max(0, unused - this.#rest(at, vm, shelved))
    const kept = left === 0 ? 0 : Math.floor(((unused - credit) * all) / left)
    Object.assign(vm, { away: true, shelf: { at, credit, rate: vm.rate }, rate: Math.min(kept, shelved) })
    if (credit > 0) this.add(at, 'VM_REFUND', credit, vm)
  }

  /** In the same period the share of the credit that falls on the rest, later the difference of both prices. */
  costOfReturn(at: number, vm: ModelVm): number {
    const { shelf } = vm
    if (!shelf) return Math.max(0, this.#rest(at, vm, Math.max(0, this.monthly(vm) - vm.rate)))
    const [left, all] = [Math.ceil((vm.end - at) / 1000), Math.ceil((vm.end - shelf.at) / 1000)]
    return Math.ceil((shelf.credit * left) / all)
  }

  unshelve(at: number, vm: ModelVm): void {
    this.add(at, 'VM_UPGRADE', -this.costOfReturn(at, vm), vm)
    Object.assign(vm, { away: false, shelf: null, rate: vm.shelf?.rate ?? this.monthly(vm) })
  }

  #drop(vm: ModelVm): void {
    this.vms.splice(this.vms.indexOf(vm), 1)
  }

  /** Everything due at that time, oldest debt first. */
  pass(at: number): void {
    const due = this.vms.filter((vm) => vm.end <= at).toSorted((a, b) => a.end - b.end || (a.id < b.id ? -1 : 1))
    for (const vm of due) this.#settle(at, vm)
  }

  #settle(at: number, vm: ModelVm): void {
    while (vm.end <= at && this.balance >= this.price(vm)) this.#renew(at, vm)
    if (vm.end > at) return
    const move = (state: ModelVm['state']): void => void Object.assign(vm, { state, since: at })
    if (vm.state === 'ACTIVE') move('PAST_DUE')
    else if (vm.state === 'PAST_DUE' && vm.since + DAY <= at) move('SUSPENDED')
    else if (vm.state === 'SUSPENDED' && vm.since + 7 * DAY <= at) this.#drop(vm)
  }

  /** A suspended VM did not run: its period starts now. */
  #renew(at: number, vm: ModelVm): void {
    if (vm.state === 'SUSPENDED') Object.assign(vm, { end: at, day: civilOf(at).day })
    Object.assign(vm, { rate: this.price(vm), shelf: null })
    this.add(at, 'VM_RENEWAL', -vm.rate, vm)
    Object.assign(vm, { state: 'ACTIVE', start: vm.end, end: monthLater(vm.end, vm.day), paid: { backups: vm.backups, fast: vm.fast } })
  }
}
