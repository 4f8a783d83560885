// Years of billing, simulated twice: through the API with scheduler processes, and with the model. Both must agree.
import { expect } from 'vitest'
import { sql } from '../../src/kernel/database/db.ts'
import { reconcileStaleMachines } from '../../src/features/vms/reconcilers/stale-machines.reconciler.ts'
import { givenBackupTarget, storesInMemory } from '../backup-target-fixture.ts'
import { billingFixture } from '../billing-fixture.ts'
import { deposit } from '../deposit.ts'
import { testApp } from '../harness.ts'
import { DAY } from './calendar.ts'
import { ModelAccount, type ModelVm, type Prices, type Traffic } from './model.ts'
import { startSchedulers } from './schedulers.ts'

export interface Years {
  from: string
  days: number
  /** VMs are created on these first days. */
  buyingDays: number
  accounts: number
  vms: number
  seed: number
  /** No renewals run for this long, once, after a third of the time. */
  outageDays: number
  /** Of the changes of a VM, how many are resizes to any plan, up or down. */
  resizes?: number
}

const HOUR = 3_600_000
const PLANS = ['small', 'medium', 'large']
/** Edge cases of calendars. */
const MOMENTS = [
  '2028-01-30T00:00:00.000Z',
  '2028-01-31T23:59:59.999Z',
  '2028-02-28T23:59:59.999Z',
  '2028-02-29T00:00:00.000Z',
  '2028-02-29T23:59:59.999Z',
]

function dice(seed: number) {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    chance: (of: number) => next() < of,
    between: (least: number, most: number) => least + Math.floor(next() * (most - least + 1)),
    pick: <T>(list: T[]): T => list[Math.floor(next() * list.length)]!,
  }
}

/** Every 5 to 17 hours, to the millisecond, and at the edge cases. */
function timesOf({ from, days, outageDays }: Years, { between }: ReturnType<typeof dice>): number[] {
  const [start, end] = [Date.parse(from), Date.parse(from) + days * DAY]
  const times = MOMENTS.map((each) => Date.parse(each)).filter((each) => each > start && each < end)
  for (let time = start; time < end; time += between(5 * HOUR, 17 * HOUR)) times.push(time)
  const outage = start + Math.floor(days / 3) * DAY
  return times.toSorted((a, b) => a - b).filter((time) => time < outage || time > outage + outageDays * DAY)
}

export async function playYears(years: Years) {
  const app = await testApp(storesInMemory())
  await givenBackupTarget(app)
  await billingFixture(app)
  await app.db.run(sql`update simulated.hosts set disk_total_bytes = ${10n ** 16n}`)
  await app.db.run(sql`update catalog_values set value = 499 where name = 'price.network_10g'`)
  await noteMovesBack(app.db)
  const random = dice(years.seed)
  const times = timesOf(years, random)
  app.clock.set(new Date(times[0]!))
  const plans = (await (await app.given.customer()).get('/plans')).body.data as {
    id: string
    slug: string
    priceMonthly: string
    disk: number
  }[]
  const planId = (slug: string): string => plans.find((each) => each.slug === slug)!.id
  const valueOf = async (name: string): Promise<number> =>
    Number((await app.db.one<{ value: bigint }>(sql`select value from catalog_values where name = ${name}`)).value)
  const prices: Prices = {
    plans: Object.fromEntries(plans.map(({ slug, priceMonthly }) => [slug, Math.round(Number(priceMonthly) * 100)])),
    disks: Object.fromEntries(plans.map(({ slug, disk }) => [slug, disk])),
    disk10: await valueOf('price.disk_10_gib'),
    shelvedGiB: await valueOf('price.shelved_gib'),
    ipv4: await valueOf('price.ipv4'),
    address: await valueOf('price.address'),
    backupPercent: 20,
    fast: 499,
    pack: 100,
  }

  /** Three of four have ample funds; the others deposit irregularly. */
  const accounts = await Promise.all(
    Array.from({ length: years.accounts }, async (_, i) => {
      const isRich = i % 4 !== 3
      const credit = isRich ? '10000000.00' : '500.00'
      const customer = await app.given.customer({ credit })
      const model = new ModelAccount(prices)
      model.add(times[0]!, 'CREDIT', Math.round(Number(credit) * 100))
      return { customer, model, isRich }
    }),
  )
  type Account = (typeof accounts)[number]
  const done = async (answer: Promise<{ status: number; body: { error: string } }>): Promise<void> => {
    const { status, body } = await answer
    expect(status, body.error).toBeLessThan(300)
    await app.settle()
  }

  let bought = 0
  const buy = async (at: number): Promise<void> => {
    const { customer, model } = random.pick(accounts)
    const [plan, backups, fast] = [random.pick(PLANS.slice(0, 2)), random.chance(0.3), random.chance(0.2)]
    if (model.balance < model.monthly({ plan, disk: prices.disks[plan]!, backups, fast })) return
    const input = { planId: planId(plan), hostname: `vm-${bought++}`, dailyBackupEnabled: backups, network10gEnabled: fast }
    const { id } = await app.given.vm(customer, input, { settled: false })
    model.buy(at, id, plan, { backups, fast })
  }

  const trafficOf = (vm: ModelVm): Promise<Traffic> =>
    app.db.one<Traffic>(sql`
      select included, least(bandwidth_used_bytes, included) as used from vm_details,
        lateral (select bandwidth_gb * 1000000000::int8 - bandwidth_withheld_bytes as included) t where id = ${vm.id}`)

  let shelved = 0
  const shelveOrReturn = async (at: number, { customer, model }: Account, vm: ModelVm): Promise<void> => {
    if (!vm.away) {
      await done(customer.post(`/vms/${vm.id}/shelve`))
      await reconcileStaleMachines.runOnce(app.deps)
      shelved++
      return model.shelve(at, vm, await trafficOf(vm)) // which is metered once more before the VM is off
    }
    if (model.balance < model.costOfReturn(at, vm)) return
    await done(customer.post(`/vms/${vm.id}/unshelve`))
    model.unshelve(at, vm)
  }

  const change = async (at: number, { customer, model }: Account, vm: ModelVm): Promise<void> => {
    if (vm.away) return
    if (years.resizes !== undefined && random.chance(years.resizes)) {
      const plan = random.pick(PLANS.filter((each) => each !== vm.plan))
      const traffic = await trafficOf(vm)
      const to = vm.disk > prices.disks[plan]! ? { planId: planId(plan), disk: vm.disk } : { planId: planId(plan) }
      await done(customer.post(`/vms/${vm.id}/resize`, to))
      return model.resize(at, vm, plan, traffic)
    }
    const larger = PLANS[PLANS.indexOf(vm.plan) + 1]
    if (random.chance(0.3) && larger && prices.disks[larger]! >= vm.disk) {
      await done(customer.post(`/vms/${vm.id}/upgrade`, { planId: planId(larger) }))
      return model.upgrade(at, vm, larger)
    }
    if (random.chance(0.1)) {
      const traffic = await trafficOf(vm)
      await done(customer.delete(`/vms/${vm.id}`))
      return model.remove(at, vm, traffic)
    }
    const addOn = random.pick(['backups', 'fast'] as const)
    await done(customer.patch(`/vms/${vm.id}`, { [addOn === 'fast' ? 'network10gEnabled' : 'dailyBackupEnabled']: !vm[addOn] }))
    model.set(at, vm, addOn, !vm[addOn])
  }

  const payIn = async (at: number, { customer, model }: Account): Promise<void> => {
    const monthly = model.vms.reduce((sum, vm) => sum + model.price(vm), 0)
    const amount = Math.floor((monthly * random.between(10, 120)) / 100)
    if (amount === 0) return
    await deposit(app.deps, customer.accountId, BigInt(amount))
    model.add(at, 'DEPOSIT', amount)
  }

  const act = async (at: number): Promise<void> => {
    for (const account of accounts.filter(({ isRich }) => !isRich)) if (random.chance(0.02)) await payIn(at, account)
    const account = random.pick(accounts.filter(({ isRich }) => isRich))
    const vm = random.pick(account.model.vms.filter((each) => each.state === 'ACTIVE' && each.end > at))
    if (vm && random.chance(0.3)) await change(at, account, vm)
    const any = random.pick(accounts)
    const other = random.pick(any.model.vms.filter((each) => each.state === 'ACTIVE' && each.end > at))
    if (other && random.chance(0.4)) await shelveOrReturn(at, any, other)
    if (other?.away && random.chance(0.05)) {
      const traffic = await trafficOf(other)
      await done(any.customer.delete(`/vms/${other.id}`))
      any.model.remove(at, other, traffic)
    }
  }

  const hasCharged = async (at: Date): Promise<boolean> =>
    (await app.db.maybe(sql`select from wallet_transactions where type = 'VM_RENEWAL' and created_at = ${at} limit 1`)) !== undefined

  const schedulers = await startSchedulers(app, 3)
  const lastBuying = times[0]! + years.buyingDays * DAY
  const buyings = times.filter((time) => time <= lastBuying).length
  let deaths = 0
  try {
    for (const [i, at] of times.entries()) {
      app.clock.set(new Date(at))
      // Spread evenly over these days, so that some are created on the last; a customer without funds leaves it to another.
      const wanted = Math.ceil((years.vms * Math.min(i + 1, buyings)) / buyings)
      for (let attempts = 0; bought < wanted && attempts < 200; attempts++) await buy(at)
      await app.settle()
      await act(at)
      const due = accounts.flatMap(({ model }) => model.vms.filter((vm) => vm.end <= at)).length
      // One is killed halfway during its work; the others finish it immediately.
      if (deaths === 0 && i >= times.length / 2 && due >= years.vms / 50) {
        await schedulers.passWithDeath(new Date(at), () => hasCharged(new Date(at)))
        deaths++
      } else await schedulers.pass(new Date(at))
      await app.settle()
      for (const { model } of accounts) model.pass(at)
    }
  } finally {
    await schedulers.stop()
  }
  return { app, accounts, bought, deaths, times, shelved }
}

/** Records in the database whenever a renewal is brought forward. */
async function noteMovesBack(db: Awaited<ReturnType<typeof testApp>>['db']): Promise<void> {
  await db.raw(`
    create table moves_back (vm_id text, was_at timestamptz, is_at timestamptz);
    create function note_move_back() returns trigger language plpgsql as $$
    begin
      insert into moves_back values (new.id, old.next_renewal_at, new.next_renewal_at);
      return new;
    end $$;
    create trigger note_move_back after update on vms for each row when (new.next_renewal_at < old.next_renewal_at) execute function note_move_back()`)
}

type Played = Awaited<ReturnType<typeof playYears>>

/** Entry by entry: type, amount, VM, time and balance. */
export async function expectSameLedger({ app, accounts }: Played): Promise<number> {
  let entries = 0
  for (const { customer, model } of accounts) {
    const rows = await app.db.many<{ type: string; amount: bigint; vm: string; at: Date; balance: bigint }>(sql`
      select type, amount_cents as amount, case when reference_type = 'VM' then reference_id else '' end as vm, created_at as at,
        balance_after_cents as balance
      from wallet_transactions where account_id = ${customer.accountId} order by number`)
    const ledger = rows.map(({ amount, at, balance, ...row }) => ({
      ...row,
      amount: Number(amount),
      at: at.getTime(),
      balance: Number(balance),
    }))
    expect(ledger).toEqual(model.ledger)
    entries += ledger.length
  }
  return entries
}

export async function expectSameVms({ app, accounts }: Played): Promise<void> {
  for (const { customer, model } of accounts) {
    const rows = await app.db.many<{ id: string; state: string; end: Date; start: Date; rate: bigint; away: boolean }>(sql`
      select id, billing_status as state, next_renewal_at as end, period_started_at as start, period_price_cents as rate, shelved_at is not null as away from vms
      where account_id = ${customer.accountId} order by id`)
    const vms = rows.map(({ end, start, rate, ...row }) => ({ ...row, start: start.getTime(), end: end.getTime(), rate: Number(rate) }))
    const expected = model.vms.map(({ id, state, end, start, rate, away }) => ({ id, state, end, start, rate, away }))
    expect(vms).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  }
}

export async function expectOnce({ app }: Played): Promise<number> {
  expect(await app.db.many(sql`select vm_id, was_at, is_at from moves_back`)).toEqual([])
  const { renewals, periods, charges } = await app.db.one<Record<'renewals' | 'periods' | 'charges', number>>(sql`
    select (select count(*)::int from renewals) as renewals, (select count(distinct (vm_id, period_started_at))::int from renewals) as periods,
      (select count(*)::int from wallet_transactions where type = 'VM_RENEWAL') as charges`)
  expect([periods, charges]).toEqual([renewals, renewals])
  return renewals
}

/** Returns the number of resizes in either direction. */
export async function playResizes(days: number): Promise<Record<'up' | 'down', number>> {
  const from = '2028-01-20T00:00:00.000Z'
  const played = await playYears({ from, days, buyingDays: 20, accounts: 4, vms: 12, seed: 71, outageDays: 0, resizes: 0.7 })
  await expectSameLedger(played)
  await expectSameVms(played)
  await expectOnce(played)
  return played.app.db.one(sql`
    select count(*) filter (where type = 'VM_UPGRADE')::int as up, count(*) filter (where type = 'VM_REFUND' and description like '%resize%')::int as down
    from wallet_transactions`)
}
