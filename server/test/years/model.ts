// A reference model of billing, written from the documentation: one customer at a time, one process, no database. Times are milliseconds,
// money is integer cents.
import { civilOf, DAY, monthLater } from './calendar.ts'

export interface Prices {
  plans: Record<string, number>
  /** GiB. */
  disks: Record<string, number>
  /** For 10 GiB of disk beyond that of a plan. */
  disk10: number
  backupPercent: number
  fast: number
  /** For 100 GB of traffic. */
  pack: number
  /** A month on the shelf, of each GiB of the disk and of the address. */
  shelvedGiB: number
  ipv4: number
  address: number
}

/** Of a billing period, in bytes. */
export interface Traffic {
  included: bigint
  used: bigint
}

export interface ModelVm {
  id: string
  plan: string
  /** GiB; never less. */
  disk: number
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

  /** A plan with a larger disk than its own costs the additional disk. */
  #size({ plan, disk }: Pick<ModelVm, 'plan' | 'disk'>): number {
    return this.prices.plans[plan]! + Math.ceil(((disk - this.prices.disks[plan]!) * this.prices.disk10) / 10)
  }

  #backups(size: Pick<ModelVm, 'plan' | 'disk'>): number {
    return Math.ceil((this.#size(size) * this.prices.backupPercent) / 100)
  }

  monthly({ backups, fast, ...size }: Pick<ModelVm, 'plan' | 'disk' | 'backups' | 'fast'>): number {
    return this.#size(size) + (backups ? this.#backups(size) : 0) + (fast ? this.prices.fast : 0)
  }

  /** What the next renewal charges. */
  price(vm: ModelVm): number {
    return vm.away ? this.#shelved(vm) : this.monthly(vm)
  }

  #shelved(vm: ModelVm): number {
    return Math.min(vm.disk * this.prices.shelvedGiB + Math.max(this.prices.ipv4, this.prices.address), this.monthly(vm))
  }

  buy(at: number, id: string, plan: string, addOns: { backups: boolean; fast: boolean }): void {
    const { day } = civilOf(at)
    const period = { state: 'ACTIVE' as const, since: at, day, start: at, end: monthLater(at, day), net: 0 }
    const size = { plan, disk: this.prices.disks[plan]! }
    const rate = this.monthly({ ...size, ...addOns })
    const vm: ModelVm = { id, ...size, ...addOns, paid: { ...addOns }, ...period, rate, away: false, shelf: null }
    this.vms.push(vm)
    this.add(at, 'VM_CHARGE', -vm.rate, vm)
  }

  /** The price of `monthly` for the rest of the period, per started second, rounded up. */
  #rest(at: number, vm: ModelVm, monthly: number): number {
    const [left, all] = [Math.ceil((vm.end - at) / 1000), Math.ceil((vm.end - vm.start) / 1000)]
    return Number((BigInt(monthly) * BigInt(left) + BigInt(all) - 1n) / BigInt(all))
  }

  upgrade(at: number, vm: ModelVm, plan: string): void {
    const disk = this.prices.disks[plan]!
    const rate = this.monthly({ ...vm, plan, disk })
    const charge = rate > vm.rate ? this.#rest(at, vm, rate - vm.rate) : 0
    this.add(at, 'VM_UPGRADE', -charge, vm)
    this.#setSize(vm, { plan, disk, rate: Math.max(vm.rate, rate) })
  }

  /** Cheaper: of the difference as much as a delete gives back of the whole, and the rate falls by no more than that. */
  resize(at: number, vm: ModelVm, plan: string, traffic: Traffic): void {
    const disk = Math.max(vm.disk, this.prices.disks[plan]!)
    const rate = this.monthly({ ...vm, plan, disk })
    if (rate > vm.rate) {
      this.add(at, 'VM_UPGRADE', -this.#rest(at, vm, rate - vm.rate), vm)
      return this.#setSize(vm, { plan, disk, rate })
    }
    const refund = this.#unused(at, vm, vm.rate - rate, traffic)
    const [unused, all] = this.#days(at, vm)
    this.#setSize(vm, { plan, disk, rate: refund > 0 ? vm.rate - Math.ceil((refund * all) / unused) : vm.rate })
    if (refund > 0) this.add(at, 'VM_REFUND', refund, vm)
  }

  #setSize(vm: ModelVm, size: Pick<ModelVm, 'plan' | 'disk' | 'rate'>): void {
    Object.assign(vm, size)
    vm.paid = { backups: vm.paid.backups && vm.backups, fast: vm.paid.fast && vm.fast }
  }

  /** Whole days: unused, and of the period. */
  #days(at: number, vm: ModelVm): [number, number] {
    return [Math.max(0, Math.floor((vm.end - at) / DAY)), Math.floor((vm.end - vm.start) / DAY)]
  }

  set(at: number, vm: ModelVm, addOn: 'backups' | 'fast', on: boolean): void {
    if (on && !vm[addOn] && !vm.paid[addOn]) {
      const added = addOn === 'fast' ? this.prices.fast : this.#backups(vm)
      const all = this.monthly({ ...vm, backups: vm.backups || vm.paid.backups, fast: vm.fast || vm.paid.fast, [addOn]: true })
      // What an earlier size has left over as paid is not charged twice.
      const price = Math.min(added, Math.max(0, all - vm.rate))
      if (price > 0) this.add(at, 'ADDON_CHARGE', -this.#rest(at, vm, price), vm)
      vm.rate += price
      vm.paid[addOn] = true
    }
    vm[addOn] = on
  }

  /** Whole unused days are refunded by the share of unused traffic; what stays paid covers the used traffic at the price of packs. What a shelved VM
   *  has used was settled before. */
  remove(at: number, vm: ModelVm, traffic: Traffic): void {
    const refund = this.#unused(at, vm, vm.rate, traffic)
    if (refund > 0) this.add(at, 'VM_REFUND', refund, vm)
    this.#drop(vm)
  }

  /** Of a part of the rate. */
  #unused(at: number, vm: ModelVm, part: number, { included, used }: Traffic): number {
    const [unused, all] = this.#days(at, vm)
    if (vm.away) return Math.max(0, Math.min(Math.floor((part * unused) / all), vm.net))
    const days = Number((BigInt(part * unused) * (included - used)) / (BigInt(all) * included))
    const packs = Math.ceil((this.prices.pack * Number(used)) / 1e11)
    const paid = this.ledger.filter((entry) => entry.vm === vm.id && entry.at >= vm.start).reduce((sum, { amount }) => sum - amount, 0)
    return Math.max(0, Math.min(days, Math.min(vm.rate, paid) - packs, vm.net))
  }

  /** As if it were deleted, less the shelved price until the period ends. What was kept is all that a deletion can give back. */
  shelve(at: number, vm: ModelVm, traffic: Traffic): void {
    const [shelved, unused, [left, all]] = [this.#shelved(vm), this.#unused(at, vm, vm.rate, traffic), this.#days(at, vm)]
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
    this.add(at, 'VM_UNSHELVE', 0 - this.costOfReturn(at, vm), vm)
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
