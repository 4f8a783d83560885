// An adversary with a wallet and all verbs of the API, over a simulated month: however plans, upgrades, resizes, packs, copies, add-ons and refunds
// are combined, no service is had below its price and no money comes out.
import { describe, expect, test } from 'vitest'
import { meter } from '../src/features/bandwidth/meter.reconciler.ts'
import { sql } from '../src/kernel/database/db.ts'
import { billingFixture } from './billing-fixture.ts'
import { testApp } from './harness.ts'
import { randomFrom } from './property/seeded.ts'
import { GB } from './traffic.ts'

const DAY_MS = 86_400_000
/** The longest period: who pays for a shorter one pays more a day. */
const PERIOD_MS = 31 * DAY_MS
const FUNDS_CENTS = 1_000_000
const COPY_CENTS_PER_GIB = 5

interface Plan {
  id: string
  slug: string
  cents: number
  bandwidthGb: number
  disk: number
}

interface OwnVm {
  id: string
  /** With the disk that the VM has, and its price. */
  plan: Plan
  backups: boolean
  /** Since when it has this size. */
  since: number
  copies: { id: string; kind: 'snapshots' | 'backups'; gib: number; since: number }[]
  /** What it had: time and copies at their monthly prices, packs, and traffic at full speed. */
  gained: { timeCents: number; packCents: number; gb: number }
}

describe('over a simulated month', async () => {
  const app = await testApp()
  const { turn } = await billingFixture(app)
  await app.db.run(sql`update catalog_values set value = ${COPY_CENTS_PER_GIB} where name = 'price.copies_gib'`)
  const listed = (await (await app.given.customer()).get('/plans')).body.data as {
    id: string
    slug: string
    priceMonthly: string
    bandwidth: number
    disk: number
  }[]
  const plans = listed.map(({ priceMonthly, bandwidth, ...plan }): Plan => ({
    ...plan,
    cents: Math.round(Number(priceMonthly) * 100),
    bandwidthGb: bandwidth,
  }))
  const diskCents = Number(
    (await app.db.one<{ value: bigint }>(sql`select value from catalog_values where name = 'price.disk_10_gib'`)).value,
  )
  /** No plan sells traffic for less. */
  const leastCentsPerGb = Math.min(...plans.map(({ cents, bandwidthGb }) => cents / bandwidthGb))

  async function openAdversary(seed: number) {
    const random = randomFrom(seed)
    app.clock.set(new Date(Date.UTC(2027 + seed, 0, 1)))
    const customer = await app.given.customer()
    const { deposit } = await billingFixture(app)
    await deposit(customer, (FUNDS_CENTS / 100).toFixed(2))
    const vms: OwnVm[] = []
    const bargains: string[] = []
    const now = (): number => app.clock.now().getTime()
    const accepted = async (answer: ReturnType<typeof customer.get>) => {
      const { status, body } = await answer
      await app.settle()
      return status < 300 ? body.data : null
    }
    const shareOf = (since: number): number => (now() - since) / PERIOD_MS
    /** What the time in this size is worth. */
    const settleTime = (vm: OwnVm): void => {
      vm.gained.timeCents += vm.plan.cents * (vm.backups ? 1.2 : 1) * shareOf(vm.since)
      vm.since = now()
    }
    const settleCopy = (vm: OwnVm, copy: OwnVm['copies'][number]): void => {
      vm.gained.timeCents += copy.gib * COPY_CENTS_PER_GIB * shareOf(copy.since)
      vm.copies.splice(vm.copies.indexOf(copy), 1)
    }
    /** Charges are rounded up to the cent and refunds down: nothing is tolerated but the error of these floating-point sums. */
    const checkPaid = async ({ id, gained: { timeCents, packCents, gb } }: OwnVm): Promise<void> => {
      const { cents } = await app.db.one<{ cents: number }>(sql`
        select -sum(amount_cents)::int as cents from wallet_transactions where reference_id = ${id}`)
      if (cents - packCents < timeCents - 0.01) bargains.push(`time and copies worth ${timeCents} for ${cents - packCents} cents`)
      if (cents < gb * leastCentsPerGb - 0.01) bargains.push(`${gb} GB of traffic for ${cents} cents`)
    }
    const moves = {
      async create(plan: Plan): Promise<OwnVm | null> {
        if (vms.length >= 6) return null
        const made = await accepted(customer.post('/vms', { ...(await app.given.vmInput()), planId: plan.id }))
        if (!made) return null
        const vm = {
          id: made.vm.id as string,
          plan,
          backups: false,
          since: now(),
          copies: [],
          gained: { timeCents: 0, packCents: 0, gb: 0 },
        }
        await app.db.run(sql`update simulated.nics set bytes_per_second = 0 where machine = ${vm.id}`)
        vms.push(vm)
        return vm
      },
      async upgrade(vm: OwnVm, plan: Plan): Promise<void> {
        if (!(await accepted(customer.post(`/vms/${vm.id}/upgrade`, { planId: plan.id })))) return
        settleTime(vm)
        vm.plan = plan
      },
      /** Up or down; the disk stays or grows. */
      async resize(vm: OwnVm, plan: Plan): Promise<void> {
        const more = vm.plan.disk - plan.disk
        const to = more > 0 ? { planId: plan.id, disk: vm.plan.disk } : { planId: plan.id }
        if (!(await accepted(customer.post(`/vms/${vm.id}/resize`, to)))) return
        settleTime(vm)
        vm.plan = more > 0 ? { ...plan, disk: vm.plan.disk, cents: plan.cents + Math.ceil((more * diskCents) / 10) } : plan
      },
      async remove(vm: OwnVm): Promise<void> {
        while (vm.copies.length > 0) settleCopy(vm, vm.copies[0]!)
        settleTime(vm)
        if (!(await accepted(customer.delete(`/vms/${vm.id}`)))) throw new Error('The VM was not deleted')
        vms.splice(vms.indexOf(vm), 1)
        await checkPaid(vm)
      },
      /** As much of what is left at full speed. */
      async transfer(vm: OwnVm, share: number): Promise<void> {
        const all = (await customer.get('/bandwidth')).body.data as { vmId: string; usedBytes: number; capBytes: string }[]
        const { usedBytes, capBytes } = all.find(({ vmId }) => vmId === vm.id)!
        const bytes = Math.floor(Math.max(0, Number(capBytes) - usedBytes) * share)
        const { mac } = await app.db.one<{ mac: string }>(sql`select mac from vms where id = ${vm.id}`)
        await app.simulated.drift.addTraffic(vm.id, mac, { received: bytes, sent: 0 })
        await meter.runOnce(app.deps)
        vm.gained.gb += bytes / GB
      },
      async pack(vm: OwnVm, gigabytes: number): Promise<void> {
        const bought = await accepted(customer.post(`/vms/${vm.id}/bandwidth/packs`, { gigabytes }))
        if (bought) vm.gained.packCents += gigabytes
      },
      async toggle(vm: OwnVm): Promise<void> {
        if (!(await accepted(customer.patch(`/vms/${vm.id}`, { dailyBackupEnabled: !vm.backups })))) return
        settleTime(vm)
        vm.backups = !vm.backups
      },
      async copy(vm: OwnVm, kind: 'snapshots' | 'backups'): Promise<void> {
        const made = await accepted(customer.post(`/vms/${vm.id}/${kind}`, { name: 'copy' }))
        const gib = vm.plan.disk
        if (made) vm.copies.push({ id: (made.snapshot ?? made.backup).id as string, kind, gib, since: now() })
      },
      async forget(vm: OwnVm): Promise<void> {
        const copy = vm.copies[0]
        if (copy && (await accepted(customer.delete(`/vms/${vm.id}/${copy.kind}/${copy.id}`)))) settleCopy(vm, copy)
      },
      async rebuild(vm: OwnVm): Promise<void> {
        await accepted(customer.post(`/vms/${vm.id}/rebuild`, { osTemplateId: (await app.given.vmInput()).osTemplateId }))
        await app.db.run(sql`update simulated.nics set bytes_per_second = 0 where machine = ${vm.id}`)
      },
      async wait(ms: number): Promise<void> {
        app.clock.set(new Date(now() + ms))
        await turn()
      },
    }
    /** Ends everything, which brings all refunds; returns what was had too cheaply. */
    const settleUp = async (): Promise<string[]> => {
      while (vms.length > 0) await moves.remove(vms[0]!)
      await app.checkInvariants()
      return bargains
    }
    return { random, vms, moves, customer, now, settleUp }
  }
  type Adversary = Awaited<ReturnType<typeof openAdversary>>

  const larger = (plan: Plan): Plan[] => plans.slice(plans.findIndex(({ id }) => id === plan.id) + 1)

  async function playAtRandom({ random, vms, moves }: Adversary): Promise<void> {
    const vm = random.pick(vms)
    const next = vm && random.pick(larger(vm.plan))
    const choices: (() => Promise<unknown>)[] = [() => moves.create(random.pick(plans)!), () => moves.wait(random.int(1, 40) * 3_600_000)]
    if (vm)
      choices.push(
        () => moves.transfer(vm, random.pick([0.1, 0.5, 1])!),
        () => moves.remove(vm),
        () => moves.pack(vm, random.int(1, 500)),
        () => moves.toggle(vm),
        () => moves.copy(vm, random.pick(['snapshots', 'backups'] as const)!),
        () => moves.forget(vm),
        () => moves.rebuild(vm),
        () => moves.resize(vm, random.pick(plans)!),
        () => moves.resize(vm, random.pick(plans)!),
        ...(next ? [() => moves.upgrade(vm, next), () => moves.upgrade(vm, next)] : []),
      )
    await random.pick(choices)!()
  }

  /** Every day the cheapest advertised traffic is bought and used up, and whatever brings a refund is deleted. */
  async function playGreedily({ random, vms, moves, customer }: Adversary): Promise<void> {
    const offers = plans.map((plan) => ({ centsPerGb: plan.cents / plan.bandwidthGb, take: () => moves.create(plan) as Promise<unknown> }))
    for (const vm of vms)
      for (const plan of larger(vm.plan)) {
        const quote = (await customer.post(`/vms/${vm.id}/upgrade?dryRun=true`, { planId: plan.id })).body.data as
          | { charge: string }
          | undefined
        const more = plan.bandwidthGb - vm.plan.bandwidthGb
        if (quote) offers.push({ centsPerGb: (Number(quote.charge) * 100) / more, take: () => moves.upgrade(vm, plan) })
      }
    await offers.toSorted((a, b) => a.centsPerGb - b.centsPerGb)[0]!.take()
    for (const vm of vms) await moves.transfer(vm, random.pick([0.5, 1])!)
    for (const vm of vms.filter(() => random.chance(0.3))) {
      const { charge } = (await customer.delete(`/vms/${vm.id}?dryRun=true`)).body.data as { charge: string }
      if (Number(charge) < 0) await moves.remove(vm)
    }
    await moves.wait(DAY_MS)
  }

  const month = async (seed: number, play: (adversary: Adversary) => Promise<void>): Promise<string[]> => {
    const adversary = await openAdversary(seed)
    const end = adversary.now() + 33 * DAY_MS
    while (adversary.now() < end) await play(adversary)
    return adversary.settleUp()
  }

  test.each([1, 2])('an adversary who plays at random gains nothing (seed %i)', async (seed) => {
    expect(await month(seed, playAtRandom)).toEqual([])
  })

  test.each([3])('a greedy adversary gains nothing (seed %i)', async (seed) => {
    expect(await month(seed, playGreedily)).toEqual([])
  })

  test.each([
    ['on the last day', 30 * DAY_MS],
    ['in the last minute', 31 * DAY_MS - 90_000],
    ['half-way', 15 * DAY_MS],
    ['at once', 0],
  ])('an upgrade %s brings the traffic that it pays for', async (_when, ms) => {
    for (const keeps of [true, false]) {
      const adversary = await openAdversary(4)
      const { moves, settleUp } = adversary
      const vm = (await moves.create(plans[0]!))!
      await moves.transfer(vm, 1)
      if (ms > 0) await moves.wait(ms)
      for (const plan of larger(vm.plan)) {
        await moves.upgrade(vm, plan)
        await moves.transfer(vm, 1)
      }
      if (keeps) await moves.wait(2 * DAY_MS)
      expect(await settleUp()).toEqual([])
    }
  })

  test.each([DAY_MS - 1_000, 90_000])(
    'a large plan is not had for less by leaving it for a small one again and again, each time after %i ms',
    async (ms) => {
      const { moves, settleUp } = await openAdversary(6)
      const vm = (await moves.create(plans[0]!))!
      for (let round = 0; round < 20; round++) {
        await moves.resize(vm, plans.at(-1)!)
        await moves.transfer(vm, 1)
        await moves.wait(ms)
        await moves.resize(vm, plans[0]!)
        await moves.transfer(vm, 1)
      }
      expect(await settleUp()).toEqual([])
    },
  )

  test('days of copies and add-ons are not had by switching them off before they end', async () => {
    const { moves, settleUp } = await openAdversary(5)
    const vm = (await moves.create(plans[0]!))!
    for (let day = 0; day < 35; day++) {
      await moves.copy(vm, 'snapshots')
      await moves.toggle(vm)
      await moves.wait(DAY_MS - 1_000)
      await moves.forget(vm)
      await moves.toggle(vm)
    }
    expect(await settleUp()).toEqual([])
  })
})
