import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { GB, quietVm } from '../../../../test/traffic.ts'
import { sql } from '../../../kernel/database/db.ts'
import { meter } from '../../bandwidth/meter.reconciler.ts'
import type { VmDetails } from '../model/sql.ts'
import { refundForUnusedDays } from './pricing.ts'

describe('the refund of a deleted VM', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string; priceMonthly: string }[]
  const cents = (amount: string) => Math.round(Number(amount) * 100)
  const balance = async () => cents((await customer.get('/wallet')).body.data.balance as string)

  /** Creates a VM, lets it transfer that much at once, deletes it, and returns what that cost. */
  const transferAndDelete = async (slug: string, gigabytes: number): Promise<number> => {
    const before = await balance()
    const vm = await quietVm(app, customer, { planId: plans.find((plan) => plan.slug === slug)!.id })
    await vm.receive(gigabytes * GB)
    await meter.runOnce(app.deps)
    const quote = (await customer.delete(`/vms/${vm.id}?dryRun=true`)).body.data as { balanceAfter: string }
    await customer.delete(`/vms/${vm.id}`)
    await app.settle({ subjectId: vm.id })
    expect(await balance()).toBe(cents(quote.balanceAfter))
    return before - (await balance())
  }

  test('never makes traffic cheaper than packs, whatever is created and deleted over a month', async () => {
    const packsCents = 3000
    for (let day = 0; day < 30; day++) {
      expect(await transferAndDelete(day % 2 === 0 ? 'large' : 'xlarge', 3000)).toBeGreaterThanOrEqual(packsCents)
      app.clock.advance('1d')
    }
  }, 120_000)

  test('is nothing once the included traffic is used up: the month is paid as if the VM was kept', async () => {
    const costs = []
    for (let i = 0; i < 3; i++) costs.push(await transferAndDelete('nano', 1000))
    expect(costs).toEqual([360, 360, 360])
    expect(await transferAndDelete('small', 3000)).toBe(600)
  })

  test('is that of the unused days while there is no traffic', async () => {
    expect(await transferAndDelete('nano', 0)).toBe(0)
  })

  test('is reduced by the share of traffic used', async () => {
    await app.db.run(sql`update catalog_values set value = 0 where name = 'price.bandwidth_100_gb'`)
    expect(await transferAndDelete('small', 500)).toBe(150)
    await app.db.run(sql`update catalog_values set value = 100 where name = 'price.bandwidth_100_gb'`)
    expect(await transferAndDelete('small', 500)).toBe(500)
  })

  test('is never negative, never more than paid, and never grows with the traffic', () => {
    const numbers = () => 100n
    const start = new Date('2026-01-01T00:00:00Z')
    const end = new Date('2026-02-01T00:00:00Z')
    for (const price of [0n, 1n, 360n, 7200n]) {
      for (const included of [0, 1, 1000, 8000]) {
        for (let day = 0; day <= 32; day++) {
          let last = price
          for (const used of [0n, 1n, 999_999_999n, 500n * BigInt(GB), 8000n * BigInt(GB), 10n ** 18n]) {
            const vm = {
              period_price_cents: price,
              bandwidth_gb: included,
              bandwidth_used_bytes: used,
              bandwidth_withheld_bytes: 0n,
              period_started_at: start,
              next_renewal_at: end,
            } as VmDetails
            const refund = refundForUnusedDays(numbers, vm, new Date(start.getTime() + day * 86_400_000), price)
            expect(refund).toBeGreaterThanOrEqual(0n)
            expect(refund).toBeLessThanOrEqual(last)
            last = refund
          }
        }
      }
    }
  })
})
